# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What an operator may paste of a VM's record: plain names and paths. In place of anything else stands a placeholder, and the record has the value."""

from __future__ import annotations

import re
import typing as t

from ...core.types import Values

# No quotes, no blanks, nothing that a shell reads; it cannot begin like an option.
WORD = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+-]{0,299}")
# Between single or double quotes, on Windows. Nothing of another machine, which \\SERVER\SHARE\FILE and FileSystem::\\SERVER\SHARE\FILE are.
QUOTED = re.compile(r"(?!.*\\\\)[A-Za-z0-9_.\\][A-Za-z0-9_.\\ :()-]{0,299}")


def word(value: t.Any, placeholder: str, form: t.Pattern[str] = WORD) -> str:
    """Return a value that has this form, or the placeholder."""
    text = str(value)
    return text if form.fullmatch(text) else placeholder


def quoted(value: t.Any, placeholder: str, mark: str = "'") -> str:
    """Return a value in quotes, or the placeholder without them."""
    text = word(value, "", QUOTED)
    return f"{mark}{text}{mark}" if text else placeholder


def listed(finding: Values, options: Values, option: str) -> list[str]:
    """Return the names of a finding in the order of an option, or, where that names none of them, in their own."""
    names = options.get(option)
    known = [name for name in names if isinstance(name, str) and name in finding] if isinstance(names, (list, tuple)) else []
    return known or list(finding)
