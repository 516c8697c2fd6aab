# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import typing as t

from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.watch.drain.due import PREEMPT
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import mapping, plain, texts
from ..plugin_utils._core.short_forms import suggestion
from ..plugin_utils._maintenance.config import alike_groups
from ..plugin_utils._maintenance.config import settings as settings_module
from ..plugin_utils._maintenance.observe import written_hosts
from ..plugin_utils._maintenance.upgrade.gate_request import KNOWN_TYPES
from ..plugin_utils._settings import tasks_files
from ..plugin_utils._watcher.drain_content import approves, drain_content, without_approvals

SPEC: Data = {
    "policy": {"type": "raw", "default": "default"},
    "methods": {"type": "raw"},
    "former": {"type": "raw"},
    "types": {"type": "list", "elements": "str", "default": []},
    "methods_path": {"type": "raw"},
    "capacity": {"type": "raw"},
    "alike": {"type": "bool", "default": False},
    "retired": {"type": "raw"},
}
LEFT = "The watcher leaves approvals to a run, which knows the VMs that stand in for this one."
# An empty list, as -e watch_drain=[] gives it.
NO_LIST = "[]"


class ActionModule(OnController):
    """Compile what the watcher of a VM drains by itself."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
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
        notes = [f"The watcher leaves these drain methods to the controller: {others}."] if others else []
        if approves(content) and _has_stand_ins(arguments, variables):
            content = without_approvals(content)
            # Policies approve short pauses without a drain, and no Preempt is one.
            notes += [LEFT] if set(types) != {PREEMPT} else []
        return {"content": content, "drains": True, "types": types, "note": " ".join(notes)}


def _nothing(note: str) -> Data:
    return {"content": {}, "drains": False, "types": [], "note": note}


def _has_stand_ins(arguments: Data, variables: Data) -> bool:
    """Return whether other VMs have a part in what may happen to this one: a capacity group has it, or others are drained alike.

    Hosts of its own groups are read first: often the first one is drained alike.
    """
    chosen = settings_module.load({name: plain(arguments[name]) for name in ("capacity", "retired")})
    host, groups = variables["inventory_hostname"], mapping(variables.get("groups"))
    if any(host in group.members for group in chosen.capacity):
        return True
    near = [name for group in texts(variables.get("group_names")) for name in texts(groups.get(group))]
    names = dict.fromkeys([host, *near, *variables["hostvars"]]) if arguments["alike"] else ()
    known = written_hosts.read(names, variables.get("hostvars"), alike_groups.left_out(chosen.capacity, chosen.retired))
    own = next(known, None)
    return own is not None and own.host == host and any(one.sameness == own.sameness for one in known)


def _types(given: list[str]) -> list[str]:
    """Return the types. Raise ValueError for one that Azure does not have: it would drain nothing, without a word."""
    types = [one.strip() for one in given if one.strip() not in ("", NO_LIST)]
    for one in types:
        if one not in KNOWN_TYPES:
            near = next((known for known in KNOWN_TYPES if known.lower() == one.lower()), "")
            meant = f" (did you mean {near}?)" if near else suggestion(one, KNOWN_TYPES)
            raise ValueError(f"watch_drain names the type {one}{meant}. Azure has {', '.join(KNOWN_TYPES)}.")
    return types
