# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter survey: a survey of AWX from a role's argument specification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._awx import surveys


def survey(
    argument_specs: Any, questions: Any, defaults: Any = None, entry_points: Any = "main", name: Any = "", description: Any = "", extra_vars: Any = None
) -> dict[str, Any]:
    """Return the survey."""
    try:
        return surveys.survey(argument_specs, defaults, questions, entry_points, name, description, extra_vars)
    except surveys.SurveyError as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.survey: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"survey": survey}
