# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One VM of a cluster is asked to drain and never says that it does: at the deadline the others get their turn all the same."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import Pass
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import event

CLUSTER = {"method": "service", "names": ["db"], "cluster": "pg"}
# Its id comes first of all, which the liar chooses.
OF_LIAR = event("0", ("vm1",), due=60)
OF_VICTIM = event("E1", ("vm2",), due=60)


@pytest.mark.parametrize("wait", [True, False])
def test_a_liar_that_never_begins_keeps_no_other_waiting(wait: bool) -> None:
    its = Pass(methods=[CLUSTER])
    for host in its.hosts:
        its.observed[host] = {**its.observed[host], "events": [OF_LIAR if host == "vm1" else OF_VICTIM]}
    asked: list[str] = []
    settings = {"clusters": {"pg": its.hosts}, "pass_interval": 0, "drain_seconds": 200, "undo_seconds": 30, "notify": False, "enabling_seconds": 0}
    state = its.begin(settings=settings, wait=wait)
    for _iteration in range(8):
        asked += [host for host, taken in state["actions"].items() if any(action["action"] == "drain" for action in taken)]
        if state["do"] == "end":
            break
        state = its.go_on(state["pause"] + 1)
    assert "vm2" in asked[:2]


def test_a_liar_that_made_its_event_up_and_hangs_does_not_go_first() -> None:
    # Its action takes as long as its task may, and the other's drain is due now.
    its = Pass(hosts=("vm1", "vm2", "vm3"), methods=[CLUSTER])
    for host in its.hosts:
        its.observed[host] = {**its.observed[host], "events": [OF_LIAR if host == "vm1" else OF_VICTIM]}
    settings = {"clusters": {"pg": its.hosts}, "pass_interval": 0, "drain_seconds": 200, "undo_seconds": 30, "notify": False, "enabling_seconds": 0}
    state = its.begin(settings=settings)
    assert [host for host, taken in state["actions"].items() if any(action["action"] == "drain" for action in taken)] == ["vm2"]
