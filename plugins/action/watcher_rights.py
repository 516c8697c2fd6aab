# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import plain
from ..plugin_utils._windows.rights import strangers

SPEC: Data = {
    "folder": {"type": "str", "required": True},
    "printed": {"type": "list", "elements": "str", "required": True},
    "writers": {"type": "list", "elements": "str", "default": []},
    "parent": {"type": "bool", "default": False},
    "next": {"type": "str", "required": True},
}


class ActionModule(OnController):
    """Refuse a folder of a Windows VM in which other users could change what the system runs or believes."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
        folder, advice = arguments["folder"], arguments["next"]
        try:
            owner, writers = strangers(folder, plain(arguments["printed"]), plain(arguments["writers"]), arguments["parent"])
        except PermissionError as error:
            raise ValueError(f"{error}. {advice}") from error
        if owner:
            raise ValueError(f"{folder} belongs to {owner}, not to the administrators or the system, so that user could change what the watcher runs. {advice}")
        if writers:
            raise ValueError(f"{folder} may be written by {', '.join(writers)[:200]}, who could change what the watcher runs. {advice}")
        return {}
