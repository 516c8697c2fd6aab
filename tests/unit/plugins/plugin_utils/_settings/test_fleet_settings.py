# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import option_types, vm_variables
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import options


def test_a_setting_of_some_hosts_alone_has_no_effect() -> None:
    many = {f"db{number}": {"respond_paused": "all of it", "drain_methods": [number]} for number in range(5)}
    assert option_types.differing("web1", {"web1": {"drain_methods": []}, **many}) == [
        "respond_paused differs on db0, db1, db2 and 2 more and has no effect there: that of web1, the first host of the play, counts for all"
    ]


def test_equal_settings_are_no_news() -> None:
    policy = [{"name": "all", "drain": True}]
    variables = {"web1": {"respond_policy": policy}, "web2": {"respond_policy": policy}, "web3": {"respond_policy": [dict(policy[0])]}}
    assert option_types.differing("web1", variables) == []
    assert len(option_types.differing("web1", {**variables, "web4": {}})) == 1, "a default is another setting"


def test_every_option_of_the_role_that_is_no_setting_of_a_vm_is_one_of_them() -> None:
    fleet = set(option_types.of_fleet())
    assert {"respond_policy", "respond_wait_timeout", "respond_notify_seconds", "respond_notify_test"} <= fleet
    assert not fleet & vm_variables.NAMES and set(option_types.OF_NO_FLEET) <= options(["respond"]) - fleet
