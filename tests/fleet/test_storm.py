# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A live migration of two VMs, a reboot, a redeploy and a host failure, all at once, under load: with respond and without.

Under the default policy only with FLEET_LONG=1: that a short pause is not drained for is asked in suite scenarios, and the rest is as where everything drains.
"""

from __future__ import annotations

import time

import pytest

from .lab import reported
from .lab.balancer_log import BalancerLog
from .lab.controller import DRAIN_EVERYTHING
from .lab.lab import Lab
from .lab.storm import Result, storm
from .lab.upgrading import MAX_OUT

NOTICED = ("live migration", "reboot", "redeploy")


def check_all(lab: Lab, result: Result) -> None:
    """What holds for every storm: it happened, and all serve as before."""
    print(result.table(), flush=True)
    assert lab.platform.faults == []
    for outcome in result.outcomes.values():
        assert len(outcome.out_at_impact) == len(outcome.vms), f"the probe did not see each impact of {outcome.name}"
    assert result.unattributed == []
    assert lab.oracle.services() == lab.untouched


def test_everything_drains_and_nobody_notices(lab: Lab) -> None:
    result = storm(lab, "everything-drains", DRAIN_EVERYTHING)
    check_all(lab, result)
    assert result.exit_code == 0, result.output
    for kind in NOTICED:
        assert all(result.outcomes[kind].out_at_impact), f"{kind}: hit while in service"
        assert result.outcomes[kind].failed == 0, f"{kind}: users noticed"
    # The page stays in the logs: a sample of a report.
    print("\n".join(reported.check(lab, result.name, result.event_ids)), flush=True)


@pytest.mark.long
def test_under_the_default_policy_users_notice_a_short_pause_only(lab: Lab) -> None:
    result = storm(lab, "default-policy", "default")
    check_all(lab, result)
    assert result.exit_code == 0, result.output
    assert not any(result.outcomes["live migration"].out_at_impact), "a short pause is not drained for"
    for kind in ("reboot", "redeploy"):
        assert all(result.outcomes[kind].out_at_impact), f"{kind}: hit while in service"
        assert result.outcomes[kind].failed == 0, f"{kind}: users noticed"


def test_without_respond_users_notice_all_of_it(lab: Lab) -> None:
    """Also the proof that the lab can show a failure, that the oracle can see a VM in service, and that HAProxy's log shows who was out."""
    log = BalancerLog(lab.balancer.log, list(lab.guests))
    result = storm(lab, "nobody", None)
    check_all(lab, result)
    stretch = log.read(time.time())
    assert stretch.most_out > MAX_OUT
    assert stretch.failed > 0
    for outcome in result.outcomes.values():
        assert not any(outcome.out_at_impact)
        assert outcome.failed > 0, f"nobody noticed the {outcome.name}"
