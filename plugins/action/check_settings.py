# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import typing as t

from ansible.utils.vars import load_extra_vars

from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.lease.lease_time import LIMITS
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import mapping
from ..plugin_utils._maintenance.config.timing import wrong_leases
from ..plugin_utils._settings import left_play, near_misses, play_keywords
from ..plugin_utils._settings.facts import why_refused, why_refused_extra
from ..plugin_utils._settings.option_types import wrong_options
from ..plugin_utils._settings.renamed import refused_variables

# Options of a role that say how long VMs are leased.
LEASES = {"upgrade": ("upgrade_tasks_seconds",)}
SPEC: dict[str, Data] = {
    "options_of": {"type": "list", "elements": "str"},
    "batch": {"type": "list", "elements": "str"},
    "lease": {"type": "dict"},
    "ended_fails": {"type": "bool"},
}


class ActionModule(OnController):
    """Check what is set for a host or its play."""

    spec = SPEC
    rules: t.ClassVar = {"mutually_exclusive": [("options_of", "batch", "lease")]}

    def answer(self, arguments: Data, variables: Data) -> Values:
        if why := self._wrong(arguments, variables):
            raise ValueError(why)
        return {"limits": LIMITS}

    def _wrong(self, arguments: Values, variables: Values) -> str | None:
        if arguments["batch"] is not None:
            if arguments["ended_fails"] and (ended := left_play.inside(arguments["batch"], variables)):
                return left_play.ENDED.format(", ".join(ended))
            failed = [host for host in arguments["batch"] if host not in variables["ansible_play_batch"]]
            return f"{', '.join(failed)} failed, and any_errors_fatal stops the play" if failed and self._task.any_errors_fatal is True else None
        if arguments["options_of"] is not None:
            return next((wrong for role in arguments["options_of"] if (wrong := self._wrong_options(role, variables))), None)
        wrong = why_refused(variables.get("ansible_facts")) or refused_variables(variables) or why_refused_extra(load_extra_vars(self._loader))
        wrong = wrong or wrong_leases({"seconds of the lease": mapping(arguments["lease"]).get("seconds")}, variables, self._templar.template)
        # Role approve takes one VM at a time, and may do so for one VM alone.
        is_alone = getattr(self._task._role, "_role_name", None) == "approve"
        return wrong or (None if is_alone else play_keywords.refused(self._task, asked_check_mode=variables.get("ansible_check_mode")))

    def _wrong_options(self, role: str, variables: Values) -> str | None:
        # Extra variables are typed for this very run: one that has no effect would leave an upgrade without its gate, or with another one.
        if misspelt := near_misses.warnings(load_extra_vars(self._loader), (f"{role}_",)):
            return " ".join(misspelt)
        if wrong := wrong_options(role, variables, self._templar.template):
            return wrong
        return wrong_leases({name: self._templar.template(variables.get(name)) for name in LEASES.get(role, ())}, variables, self._templar.template)
