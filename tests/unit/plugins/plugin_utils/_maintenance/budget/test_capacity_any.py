# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rule 4 for any fleet: the oracle counts by itself who is out, from what was observed."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import load
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.deadlines import LEAST_DRAIN
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, event, method, plan, record, vm

NAMES = ("vm1", "vm2", "vm3", "vm4", "vm5")
PHASES = ("noticed", "held", "draining", "drained", "approved", "started", "failed", "gone", "recovering", "recovered")
OUT = ("draining", "drained", "approved", "started", "gone", "recovering")
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
# Of a drain that a group holds, and of which no time is known.
DEADLINE = min(SETTINGS["drain_seconds"], LEAST_DRAIN) + 30


def some(dice: random.Random, most: int) -> tuple[str, ...]:
    """One to so many VMs."""
    return tuple(dice.sample(NAMES, dice.randint(1, most)))


def fleet(dice: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Up to three events on five VMs, and one or two groups."""
    events = [
        event(f"E{number}", some(dice, 3), dice.choice(["Scheduled"] * 5 + ["Started"]), dice.choice((None, 100, 300, 800, 900))) | dice.choice(({}, {}, PAUSE))
        for number in range(dice.randint(1, 3))
    ]
    groups = [
        {"name": f"g{place}", "members": list(some(dice, 5)), "max_unavailable": dice.choice((0, 1, 1, 2, 3, "50%"))} for place in range(dice.randint(1, 2))
    ]
    # The group of a cluster is one like any other, of which one VM may be unavailable.
    groups += [{"name": "cluster c", "members": list(some(dice, 3)), "max_unavailable": 1}] if dice.random() < 0.3 else []
    return events, groups


def observation(dice: random.Random, name: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    """Anything that may be seen of a VM."""
    if dice.random() < 0.05:
        return vm(name, state="unreachable")
    records = []
    for one in events:
        if name in one["resources"] and dice.random() < 0.4:
            phase = dice.choice(PHASES)
            undone = phase in ("gone", "recovering", "failed") and dice.random() < 0.5
            records.append(record(phase, one, **({"methods": [method("undone")]} if undone else {})))
    listed = [one for one in events if dice.random() < 0.9]
    return vm(name, listed, records, in_service=dice.choice((None, True, True, True, True, False)))


def drains(observation: dict[str, Any], one: dict[str, Any], policy: Any) -> bool:
    """Whether an event needs a drain of this VM: by its own record while the VM is changed, or else by the policy. Other VMs' records do not count."""
    own = next((record for record in observation["records"] if record["event"]["event_id"] == one["event_id"] and record["rule"]), None)
    is_changed = own is not None and any(how["state"] != "undone" for how in own["methods"])
    return own["rule"]["drain"] if own is not None and is_changed else load(policy).decide(one).drain


def out(seen: dict[str, Any] | None, hits: list[dict[str, Any]], policy: Any = None) -> bool:
    """By the design's words. C(hits) are events that have started; without a policy, all of them count."""
    if seen is None or seen["observation"] is None:
        return True
    return seen["observation"]["in_service"] is False or explained(seen, hits, policy)


def explained(seen: dict[str, Any], hits: list[dict[str, Any]], policy: Any) -> bool:
    """Whether anything but a health check says that the VM is out."""
    observation = seen["observation"]
    if any(one["phase"] in OUT or any(how["state"] != "undone" for how in one["methods"]) for one in observation["records"]):
        return True
    # Each VM by its own document: what others say of it counts for nothing.
    own = [one for one in hits if one in observation["events"] and (policy is None or drains(observation, one, policy))]
    return any(seen["host"] in one["resources"] for one in own)


def check(seen: list[dict[str, Any]], events: list[dict[str, Any]], groups: list[dict[str, Any]], policy: str | list[dict[str, Any]]) -> int:
    """How many VMs the plan takes out of groups; fails when they are more than a group allows."""
    by_name = {one["host"]: one for one in seen}
    by_id = {one["event_id"]: one for one in events}
    clusters = {one["name"][len("cluster ") :]: one["members"] for one in groups if one["name"] == "cluster c"}
    found = plan(*seen, capacity=[one for one in groups if one["name"] != "cluster c"], clusters=clusters, policy=policy)
    hits = [by_id[one["event_id"]] for one in found["events"] if one["listed"] and one["event_status"] == "Started"]
    outs = {name for name in NAMES if out(by_name.get(name), hits, policy)}
    alone = {name for name, one in by_name.items() if one["observation"] and one["observation"]["in_service"] is False and not explained(one, hits, policy)}
    anyway, starts = set(), set()
    for step in found["actions"]:
        if step["action"] == "drain":
            one = by_id[step["event_id"]]
            late = one["event_status"] == "Started" or (one["not_before"] is not None and starts_in(found, one) <= DEADLINE)
            (anyway if late and policy == "default" else starts).add(step["host"])
        elif step["action"] == "approve":
            starts.update(name for key in step["event_ids"] for name in by_id[key]["resources"])
    taken = 0
    for group in groups:
        members = set(group["members"])
        said = group["max_unavailable"]
        limit = len(members) // 2 if said == "50%" else said
        more = (starts - outs) & members
        taken += len(more)
        if len(alone & members) > max(limit, 1):
            assert not (starts & members & (alone | starts - outs)), f"{starts} begin in {group}, of which {alone} are out by their checks alone"
        if more:
            assert members <= set(by_name), f"{more} begin in {group}, of which nobody knows who is out"
            assert len(members & (outs | starts | anyway)) <= limit, f"{more} begin in {group}, out are {outs}, {anyway} go anyway"
    return taken


def starts_in(found: dict[str, Any], one: dict[str, Any]) -> float:
    return float(next(entry["starts_in"] for entry in found["events"] if entry["event_id"] == one["event_id"]) or 0.0)


def search(examples: int, phases: tuple[Phase, ...] = tuple(Phase)) -> list[int]:
    """Random fleets; how many VMs each plan took out."""
    taken = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=phases, report_multiple_bugs=False)
    @given(st.randoms(use_true_random=True), st.booleans())
    def one(dice: random.Random, lets_come: bool) -> None:
        events, groups = fleet(dice)
        seen = [observation(dice, name, events) for name in NAMES]
        if dice.random() < 0.1:
            seen.pop(dice.randrange(len(seen)))
        policy: Any = "default"
        if lets_come:
            policy = [
                {"when": "event_type == 'Freeze'", "drain": False, "approve": "now", "hold_at_deadline": "let_it_come"},
                {"drain": True, "approve": "after_drain", "hold_at_deadline": "let_it_come"},
            ]
        taken.append(check(seen, events, groups, policy))

    one()
    return taken


def test_no_plan_takes_out_more_than_a_group_allows() -> None:
    taken = search(200)
    # A plan that never begins anything would pass too.
    assert sum(map(bool, taken)) > 20


def test_the_oracle_sees_what_is_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_full", lambda *given, **more: None)
    with pytest.raises(AssertionError, match="begin in"):
        search(200, (Phase.generate,))


@pytest.mark.parametrize("mutant", ["_why_stuck", "_is_out"])
def test_the_oracle_sees_who_was_not_counted(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, mutant, lambda given: None)
    with pytest.raises(AssertionError, match="begin in"):
        search(200, (Phase.generate,))


def test_the_oracle_sees_where_health_checks_alone_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_unexplained", lambda *given: {})
    with pytest.raises(AssertionError, match="by their checks alone"):
        search(2000, (Phase.generate,))
