# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import getpass
from datetime import datetime, timezone

from ansible.utils.vars import load_extra_vars

from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import mapping
from ..plugin_utils._maintenance.operator import override_requests
from ..plugin_utils._settings import near_misses

SPEC = {"override": {"type": "dict", "required": True}, "observed": {"type": "str"}}


class ActionModule(OnController):
    """Check an override, and find the records to write it to."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
        # An override would last for other hours, or concern another VM, than was meant.
        if wrong := near_misses.warnings(load_extra_vars(self._loader)):
            raise ValueError(" ".join(wrong))
        state = mapping(variables.get(arguments["observed"] or ""))
        observations = state["observations"] if arguments["observed"] else None
        settings = mapping(state.get("request")).get("settings")
        asked = {**arguments["override"], "who": arguments["override"].get("who") or _user()}
        return override_requests.answer(observations, asked, settings, datetime.now(timezone.utc).isoformat())


def _user() -> str:
    """Return the user of this machine, also where no variable of the environment has the name; empty without any."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
