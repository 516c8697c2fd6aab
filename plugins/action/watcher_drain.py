# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.plugin_utils._actions.on_controller import OnController
from ansible_collections.maintenance.azure.plugins.plugin_utils._watcher.drain_content import drain_content

SPEC: dict[str, t.Any] = {
    "policy": {"type": "raw", "default": "default"},
    "methods": {"type": "raw"},
    "former": {"type": "raw"},
    "types": {"type": "list", "elements": "str", "default": []},
    "folders": {"type": "list", "elements": "str", "default": []},
    "places": {"type": "list", "elements": "str", "default": []},
}


class ActionModule(OnController):
    """Compile what the watcher of a VM drains by itself."""

    spec = SPEC
    rules: t.ClassVar = {}

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        if not arguments["types"]:
            return _nothing("watch_drain is empty, so the watcher drains nothing.")
        if arguments["methods"] in (None, "", [], {}):
            return _nothing("drain_methods is empty, so the watcher drains nothing.")
        keys = ("policy", "methods", "former", "folders", "places")
        content = drain_content(t.cast("t.Any", {**{key: arguments[key] for key in keys}, "host": variables["inventory_hostname"]}))
        others = ", ".join(content["elsewhere"])
        if not content["methods"]:
            return _nothing(f"No method of drain_methods runs on the VM alone ({others}), so the watcher drains nothing.")
        return {"content": content, "drains": True, "note": f"The watcher leaves these drain methods to the controller: {others}." if others else ""}


def _nothing(note: str) -> dict[str, t.Any]:
    return {"content": {}, "drains": False, "note": note}
