# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import left_play


class HostVars:
    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def raw_get(self, host: str) -> dict[str, Any]:
        return self.values[host]


def test_a_vm_whose_upgrade_has_begun_and_not_ended_has_left() -> None:
    known = HostVars({"web1": {left_play.INSIDE: True}, "web2": {left_play.INSIDE: False}, "web3": {}})
    assert left_play.inside(["web1", "web2", "web3"], {"hostvars": known}) == ["web1"]
    assert left_play.inside(["web2", "web3"], {"hostvars": known}) == []
    assert left_play.inside(["web1"], {}) == [], "before the first play of a run there are none"
