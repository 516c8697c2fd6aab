# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.wrong_input import WrongInput
from ..plugin_utils._maintenance.upgrade.batches import make_batches
from ..plugin_utils._settings import left_play

SPEC = {
    "name": {"type": "str", "required": True},
    "tasks": {"type": "str", "required": True},
    "check_tasks": {"type": "str", "default": ""},
    "folders": {"type": "list", "elements": "str", "default": []},
    "by": {"type": "str", "default": "serial"},
    "serial": {"type": "raw"},
    "ended_fails": {"type": "bool", "default": False},
}


class ActionModule(OnController):
    """Check the request for a rolling upgrade."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
        if not arguments["name"].strip():
            raise ValueError("upgrade_name is empty: it must be this upgrade's own name")
        names = ("tasks", "check_tasks") if arguments["check_tasks"] else ("tasks",)
        found = {name: self.tasks_file(f"upgrade_{name}", arguments[name], arguments["folders"]) for name in names}
        try:
            make_batches([], arguments["by"], arguments["serial"])
        except WrongInput as error:
            raise ValueError(f"upgrade_{error}") from error
        ended = left_play.inside([host for host in variables.get("ansible_play_hosts_all", ()) if host not in variables["ansible_play_batch"]], variables)
        if ended and arguments["ended_fails"]:
            raise ValueError(left_play.ENDED.format(", ".join(ended)) + " No batch after it was begun")
        return {"check_tasks": "", **found, "ended": ended}
