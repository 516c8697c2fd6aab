# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Freeze of five seconds each for the three members of a real etcd, with the default policy: no two stand still together."""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import typing as t

import pytest
from impact import Impact
from lab import warm
from lab.etcd import Cluster
from lab.lab import Lab
from scene import FULL
from writer import Writer

Make = t.Callable[..., Lab]
VMS = ("etcd1", "etcd2", "etcd3")
FREEZE = 5.0


@pytest.fixture
def lab(make_lab: Make) -> Lab:
    found = make_lab(list(VMS))
    found.all.update(respond_drain_seconds=20, respond_pass_interval=5)
    for vm in VMS:
        # Nothing is done for a pause of seconds; its cluster elects another leader.
        found.hosts[vm]["drain_methods"] = [{"method": "none"}]
    return found


@pytest.fixture
def cluster(lab: Lab) -> collections.abc.Iterator[Cluster]:
    found = Cluster(lab.folder / "etcd", VMS)
    yield found
    found.stop()


def together(impacts: t.Sequence[Impact]) -> int:
    """How many members stood still at once, at most."""
    begins = [one.struck for one in impacts if one.struck is not None]
    return max(sum(other <= begin < other + FREEZE for other in begins) for begin in begins)


if FULL:

    def test_three_freezes_of_five_seconds(lab: Lab, cluster: Cluster) -> None:
        events = {vm: lab.simulator.event("Freeze", [vm], duration_in_seconds=5, notice=72000, started_seconds=72000) for vm in VMS}
        impacts = [Impact(lab, event, FREEZE, functools.partial(cluster.freeze, vm), functools.partial(cluster.thaw, vm)) for vm, event in events.items()]
        with Writer(cluster.write) as writer, contextlib.ExitStack() as stack:
            for impact in impacts:
                stack.enter_context(impact)
            command = lab.command("maintenance.azure.respond", respond_wait=True, respond_wait_timeout=200)
            done = warm.run_playbook(command, lab.environment(), lab.folder, 300)
            writer.until(100)
        written, pause, most = len(writer.acknowledged), writer.longest_pause(), together(impacts)
        print(f"serving: three Freezes of 5 s on an etcd of three: {most} stood still together, writes stood for {pause:.1f} s, {written} acknowledged")
        print(f"  errors: {writer.errors}")
        assert done.returncode == 0, done.stdout[-5000:]
        assert writer.lost(cluster.numbers()) == set()
        assert most == 1
        # An election, and the client's own patience; not a Freeze.
        assert pause < FREEZE
        assert len(lab.simulator.approvals()) == 3
