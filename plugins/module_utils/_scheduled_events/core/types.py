# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Types of data by name, as JSON has it: of options, records and answers."""

from __future__ import annotations

import typing as t

Values = t.Mapping[str, t.Any]
"""What is only read."""
Data = t.Dict[str, t.Any]
Doubt = t.Optional[str]
"""Why a finding does not prove that a drained VM is out: empty where it does, None where its method cannot tell."""
