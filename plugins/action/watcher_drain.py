# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import typing as t

from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.short_forms import suggestion
from ..plugin_utils._maintenance.upgrade.gate_request import KNOWN_TYPES
from ..plugin_utils._settings import tasks_files
from ..plugin_utils._watcher.drain_content import drain_content

SPEC: dict[str, t.Any] = {
    "policy": {"type": "raw", "default": "default"},
    "methods": {"type": "raw"},
    "former": {"type": "raw"},
    "types": {"type": "list", "elements": "str", "default": []},
    "methods_path": {"type": "raw"},
}
# An empty list, as -e watch_drain=[] gives it.
NO_LIST = "[]"


class ActionModule(OnController):
    """Compile what the watcher of a VM drains by itself."""

    spec = SPEC

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        types = _types(arguments["types"])
        if not types:
            return _nothing("watch_drain is empty, so the watcher drains nothing.")
        if arguments["methods"] in (None, "", [], {}):
            return _nothing("drain_methods is empty, so the watcher drains nothing.")
        folders, places = tasks_files.method_folders(variables, arguments["methods_path"]), tasks_files.places(variables)
        content = drain_content(t.cast("t.Any", {**arguments, "folders": folders, "places": places, "host": variables["inventory_hostname"]}))
        others = ", ".join(content["elsewhere"])
        if not content["methods"]:
            return _nothing(f"No method of drain_methods runs on the VM alone ({others}), so the watcher drains nothing.")
        note = f"The watcher leaves these drain methods to the controller: {others}." if others else ""
        return {"content": content, "drains": True, "types": types, "note": note}


def _nothing(note: str) -> dict[str, t.Any]:
    return {"content": {}, "drains": False, "types": [], "note": note}


def _types(given: list[str]) -> list[str]:
    """Return the types. Raise ValueError for one that Azure does not have: it would drain nothing, without a word."""
    types = [one.strip() for one in given if one.strip() not in ("", NO_LIST)]
    for one in types:
        if one not in KNOWN_TYPES:
            near = next((known for known in KNOWN_TYPES if known.lower() == one.lower()), "")
            meant = f" (did you mean {near}?)" if near else suggestion(one, KNOWN_TYPES)
            raise ValueError(f"watch_drain names the type {one}{meant}. Azure has {', '.join(KNOWN_TYPES)}.")
    return types
