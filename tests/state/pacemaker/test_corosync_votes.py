# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What method pacemaker reckons of votes, and what becomes of them: Corosync alone, in each of its ways of counting."""

from __future__ import annotations

import typing as t

import pytest
from pacemaker.cluster import Cluster, Node

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import MethodError, NotYet, Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.pacemaker import cluster as own
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.pacemaker import pacemaker as method
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine


class On:
    """The commands of a node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def run(self, line: t.Any, environment: t.Mapping[str, str], seconds: float) -> CommandResult:
        done = self._node.run(*line, code=None)
        return CommandResult(done.returncode, done.stdout, done.stderr)


def reckoned(node: Node, names: t.Sequence[str], leaving: t.Sequence[str]) -> bool:
    """Return whether the method lets these nodes go, on one of them."""
    pacemaker = own.Pacemaker(Machine(lambda: "", On(node), None, None, None))  # type: ignore[arg-type]
    nodes = {name: own.Node(name, [], "", str(number)) for number, name in enumerate(names, 1)}
    seen = own.Status(nodes, {"d1": own.Resource(frozenset({"vm1"}), frozenset({"vm1"}), False, True)}, "", True, "stop", False, "")
    members = {name: name for name in names}
    task = Task({**defaults("pacemaker"), "members": members}, {}, "new", None, {}, resources=leaving, members=members)
    try:
        method._refuse_if_needed(pacemaker, seen, nodes[node.name], task)
    except (MethodError, NotYet) as error:
        print(f"state: pacemaker: {error}", flush=True)
        return False
    return True


def is_quorate(node: Node) -> bool:
    return node.run("corosync-quorumtool", "-si", code=None).returncode == 0


def members(node: Node) -> int:
    return len(own.Pacemaker(Machine(lambda: "", On(node), None, None, None)).votes().members)  # type: ignore[arg-type]


PLAIN, TIE, LAST = "wait_for_all: 0", "auto_tie_breaker: 1", "wait_for_all: 1\n    last_man_standing: 1\n    last_man_standing_window: "
# Of an odd number of nodes Corosync wants it beside auto_tie_breaker.
WAIT = "\n    wait_for_all: 1"
# How many nodes; the settings; which are down before, and which go; and whether it has to have counted again.
WAYS = [
    (2, "two_node: 1\n    wait_for_all: 0", (), ("vm1",), False),
    (2, PLAIN, (), ("vm1",), False),
    (2, TIE, (), ("vm1",), False),
    (2, TIE, (), ("vm2",), False),
    (2, TIE + "\n    auto_tie_breaker_node: 2", (), ("vm1",), False),
    (2, TIE + "\n    auto_tie_breaker_node: highest", (), ("vm1",), False),
    (3, PLAIN, (), ("vm1",), False),
    (3, PLAIN, ("vm3",), ("vm1",), False),
    (3, TIE + WAIT, ("vm3",), ("vm2",), False),
    (4, TIE, (), ("vm1", "vm2"), False),
    (4, TIE, (), ("vm3", "vm4"), False),
    (5, TIE + WAIT + "\n    auto_tie_breaker_node: 5", ("vm3",), ("vm1", "vm2"), False),
    (4, LAST + "600000", ("vm4",), ("vm1", "vm2"), False),
    (4, LAST + "1000", ("vm4",), ("vm1",), True),
    (4, LAST + "1000", ("vm4",), ("vm1", "vm2"), True),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(("count", "quorum", "down", "leaving", "counted"), WAYS)
def test_what_is_reckoned_is_what_corosync_does(count: int, quorum: str, down: t.Sequence[str], leaving: t.Sequence[str], counted: bool) -> None:
    names = [f"vm{number}" for number in range(1, count + 1)]
    cluster = Cluster(names, quorum)
    try:
        for one in cluster.nodes.values():
            one.boot(with_pacemaker=False)
        first = cluster.nodes[leaving[0]]
        stays = cluster.nodes[next(name for name in names if name not in (*down, *leaving))]
        first.until(lambda: members(first) == count and is_quorate(first), "all are there")
        for name in down:
            cluster.nodes[name].end()
        first.until(lambda: members(first) == count - len(down), "one is down")
        if counted:
            # The votes that are expected fall to those that are there.
            first.until(lambda: f"Expected votes:   {count - len(down)}" in first.run("corosync-quorumtool", "-si").stdout, "counted again")
        expected = reckoned(first, names, leaving)
        for name in leaving:
            cluster.nodes[name].end()
        stays.until(lambda: members(stays) == count - len(down) - len(leaving), "they are gone")
        print(f"state: pacemaker: {count} nodes, {quorum!r}, down {down}, gone {leaving}: reckoned {expected}, is {is_quorate(stays)}", flush=True)
        assert is_quorate(stays) is expected
    finally:
        cluster.close()
