# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import re
import typing as t

from ansible.utils.display import Display

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import split_endpoint
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import SettingsError, parse_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._actions.on_controller import OnController
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.plain_values import plain
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.short_forms import suggestion
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate_request import KNOWN_TYPES
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import near_misses
from ansible_collections.maintenance.azure.plugins.plugin_utils._watcher.drain_content import drain_content
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.rights import strangers

SPEC: dict[str, t.Any] = {
    "policy": {"type": "raw", "default": "default"},
    "methods": {"type": "raw"},
    "former": {"type": "raw"},
    "types": {"type": "list", "elements": "str", "default": []},
    "settings": {"type": "dict"},
    "rights": {
        "type": "list",
        "elements": "dict",
        "options": {
            "where": {"type": "str", "required": True},
            "printed": {"type": "list", "elements": "str", "required": True},
            "writers": {"type": "list", "elements": "str", "default": []},
            "parent": {"type": "bool", "default": False},
            "next": {"type": "str", "required": True},
        },
    },
    "folders": {"type": "list", "elements": "str", "default": []},
    "places": {"type": "list", "elements": "str", "default": []},
}


# An empty list, as -e watch_drain=[] gives it.
NO_LIST = "[]"
# What stands in a message about a setting between its value and what is right.
MUST = "; it must be "


class ActionModule(OnController):
    """Compile what the watcher of a VM drains by itself, or check the watcher's settings, or who may write its folders on Windows."""

    spec = SPEC
    rules: t.ClassVar = {}

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        if arguments["rights"] is None:
            # Before anything is refused: what seems to be missing may be misspelt.
            _warn(variables)
        if arguments["settings"] is not None:
            _check(arguments["settings"])
            return {}
        if arguments["rights"] is not None:
            for folder in arguments["rights"]:
                _check_rights(folder)
            return {}
        types = _types(arguments["types"])
        if not types:
            return _nothing("watch_drain is empty, so the watcher drains nothing.")
        if arguments["methods"] in (None, "", [], {}):
            return _nothing("drain_methods is empty, so the watcher drains nothing.")
        keys = ("policy", "methods", "former", "folders", "places")
        content = drain_content(t.cast("t.Any", {**{key: arguments[key] for key in keys}, "host": variables["inventory_hostname"]}))
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


def _warn(variables: dict[str, t.Any]) -> None:
    """Warn of misspelt options, which Ansible ignores. The same words are displayed once for a run. No VM chooses what is displayed about its facts."""
    names = set(map(str, variables)) - set(map(str, variables.get("ansible_facts") or ()))
    for warning in near_misses.warnings(names):
        Display().warning(printable(warning, LONGEST_LINE))


def _check_rights(folder: t.Mapping[str, t.Any]) -> None:
    """Raise ValueError for a folder of a Windows VM in which others could change what the system runs or believes."""
    where, advice = folder["where"], folder["next"]
    try:
        owner, writers = strangers(where, plain(folder["printed"]), plain(folder["writers"]), folder["parent"])
    except PermissionError as error:
        raise ValueError(f"{error}. {advice}") from error
    if owner:
        raise ValueError(f"{where} belongs to {owner}, not to the administrators or the system, so that user could change what the watcher runs. {advice}")
    if writers:
        raise ValueError(f"{where} may be written by {', '.join(writers)[:200]}, who could change what the watcher runs. {advice}")


def _check(settings: dict[str, t.Any]) -> None:
    """Raise ValueError for settings that the watcher would refuse, by the name of their option: before anything is written on the VM."""
    try:
        given = parse_settings(plain(settings), "watch")
    except SettingsError as error:
        value, must, wanted = str(error).replace("watch: ", "watch_", 1).rpartition(MUST)
        # The file has null where the option is empty.
        value = re.sub(" is None$", " is empty", value)
        raise ValueError(value + must + re.sub(r"\btell_(?=[a-z])", "watch_tell_", wanted).replace("null", "empty")) from error
    try:
        split_endpoint(given.endpoint)
    except ScheduledEventsError as error:
        raise ValueError(f"watch_{error}") from error
