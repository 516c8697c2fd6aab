# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which replica takes over an availability group, and why one may not."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import availability_groups as groups
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.failover_cluster import Replica

TASK = Task({}, {}, "new", None, {}, resources=["vm1"], members={"b": "VM2", "c": "VM3"})
AROUND = groups.Surroundings({"sql2": "b", "SQL3": "c", "SQL9": "i"}, TASK.why_not)


def replica(name, **more):
    about = {"mode": "SYNCHRONOUS_COMMIT", "here": False, "role": "SECONDARY", "health": "HEALTHY", "ready": True, **more}
    return Replica("Orders", name, **about)


HERE = replica("SQL1", here=True, role="PRIMARY")


def test_groups_are_known_without_case_and_as_the_settings_write_them():
    assert groups.primary_here(["ORDERS", "Bills"], [HERE]) == ["ORDERS"]
    assert groups.unknown(["ORDERS", "Bills"], [HERE]) == ["Bills"]
    for other in (HERE._replace(here=False), HERE._replace(role="SECONDARY"), HERE._replace(role="")):
        assert groups.primary_here(["Orders"], [other]) == []


def test_the_first_of_the_settings_takes_over():
    replicas = [HERE, replica("SQL3"), replica("SQL2"), replica("SQL4")]
    assert groups.candidates("orders", replicas, AROUND) == {"sql2": "", "SQL3": ""}
    assert groups.targets(["orders"], replicas, AROUND) == {"orders": "sql2"}
    assert groups.targets(["Bills"], replicas, AROUND) == {}


@pytest.mark.parametrize("other", [{"mode": "ASYNCHRONOUS_COMMIT"}, {"ready": False}, {"health": "PARTIALLY_HEALTHY"}, {"role": ""}, {"role": "RESOLVING"}])
def test_one_that_would_lose_something_may_not(other):
    assert groups.candidates("Orders", [HERE, replica("SQL2", **other)], AROUND) == {"sql2": "not synchronised"}


def test_whether_the_event_hits_it_must_be_known():
    replicas = [HERE, replica("SQL2"), replica("SQL3")]
    assert groups.candidates("Orders", replicas, AROUND._replace(why_not=TASK._replace(members={"c": "Vm1"}).why_not)) == {
        "sql2": "the name of b in Azure is not known",
        "SQL3": "its VM Vm1 is hit by the same event",
    }
    # The instance here is no replica that could take over.
    assert groups.candidates("Orders", [HERE], AROUND._replace(hosts={"SQL1": "a"})) == {}


@pytest.mark.parametrize(("chosen", "reasons", "words"), [
    ("A", {"A": ""}, None),
    ("A", {"A": "down", "B": ""}, "A, which was to take over, cannot (A: down; B: may take over)"),
    ("A", {}, "A, which was to take over, cannot (the option replicas names none of its replicas)"),
    ("", {}, "no replica may take over (the option replicas names none of its replicas)"),
])  # fmt: skip
def test_a_refusal_says_why(chosen, reasons, words):
    expected = None if words is None else f"availability group Orders has its primary replica here, and {words}"
    assert groups.refusal("Orders", chosen, reasons) == expected


@pytest.mark.parametrize(("more", "waits"), [
    ({}, False), ({"role": "SECONDARY"}, False), ({"role": "RESOLVING"}, True), ({"health": "NOT_HEALTHY"}, True),
    ({"health": "NOT_HEALTHY", "here": False}, False),
])  # fmt: skip
def test_what_is_here_must_be_in_step(more, waits):
    one = HERE._replace(**more)
    expected = [f"availability group ORDERS is not synchronised here yet ({one.role}, {one.health})"] if waits else []
    assert groups.out_of_step(["ORDERS", "Bills"], [one]) == expected


def test_each_group_is_judged_by_its_own_replicas():
    orders = [HERE, replica("SQL2", ready=False), replica("SQL3")]
    bills = [one._replace(group="BILLS") for one in (HERE, replica("SQL2"), replica("SQL3", mode="ASYNCHRONOUS_COMMIT"))]
    empty = [HERE._replace(group="Empty")]
    every = [*empty, *orders, *bills]
    assert groups.targets(["Empty", "Orders", "Bills"], every, AROUND) == {"Orders": "SQL3", "Bills": "sql2"}
    assert groups.candidates("Orders", every, AROUND) == {"sql2": "not synchronised", "SQL3": ""}
    assert groups.candidates("Bills", every, AROUND) == {"sql2": "", "SQL3": "not synchronised"}
    assert groups.primary_here(["None", "Bills", "Orders"], every) == ["Bills", "Orders"]
    assert groups.unknown(["None", "Bills", "Neither", "Orders"], every) == ["None", "Neither"]


def test_what_is_out_of_step_is_named_for_each_group_of_the_method():
    late = HERE._replace(health="NOT_HEALTHY")
    every = [HERE, late._replace(group="Bills"), late._replace(group="Other"), late._replace(group="Last", role="SECONDARY")]
    assert groups.out_of_step(["Orders", "bills", "Last"], every) == [
        "availability group bills is not synchronised here yet (PRIMARY, NOT_HEALTHY)",
        "availability group Last is not synchronised here yet (SECONDARY, NOT_HEALTHY)",
    ]


@pytest.mark.parametrize("flaws", range(1, 16))
def test_one_flaw_of_a_replica_is_enough(flaws):
    """Any of the four, and any number of them together."""
    wrong = [{"mode": "ASYNCHRONOUS_COMMIT"}, {"ready": False}, {"health": "NOT_HEALTHY"}, {"role": "PRIMARY"}]
    more = {key: value for number, flaw in enumerate(wrong) if flaws >> number & 1 for key, value in flaw.items()}
    assert groups.candidates("Orders", [HERE, replica("SQL2", **more)], AROUND) == {"sql2": "not synchronised"}
