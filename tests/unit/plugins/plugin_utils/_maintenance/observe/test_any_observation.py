# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arbitrary observations: the plan never crashes, never approves or recovers without evidence, and is deterministic."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import notifying
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import timeline
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, method, record, vm

LIMITS = settings(max_examples=450, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
HOSTS = ("vm1", "vm2", "vm3")
JUNK: Any = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TIMES = (None, at(-90_000), at(-700), at(-70), at(-12), at(-5), at(0), at(50), at(800), "?")
NAMED = (("vm1",), ("vm1",), ("vm2",), ("vm1", "vm2"), ("vm3", "vm1"), ("vm1", "other"), ("other",), ())
STATES = (*["ok"] * 9, "unreachable", "failed", "excluded")
METHOD_STATES = ("found", "begun", "drained", "failed", "undoing", "undone")


def an_event(dice: random.Random) -> dict[str, Any]:
    return event(
        event_id=dice.choice(("E1", "E2", "e2")),
        resources=dice.choice(NAMED),
        status=dice.choice(("Scheduled", "Scheduled", "Scheduled", "Started")),
        due=dice.choice((None, -5, 50, 300, 900, 900, 90_000)),
        event_type=dice.choice(("Freeze", "Reboot", "Terminate", "Meltdown")),
        duration_in_seconds=dice.choice((-1, 0, 9, None)),
    )


def a_twist(dice: random.Random) -> dict[str, Any]:
    """Return optional keys of a record, beside those of its phase."""
    twists = {key: dice.choice(TIMES) for key in ("verified_at", "approved_at", "started_at", "missing_since")}
    twists["boot_id"] = dice.choice(("boot", "c", None))
    twists["told"] = dice.sample(PHASES, 3)  # type: ignore[assignment]
    twists["outcome"] = dice.choice((None, "completed", "unknown"))
    twists["methods"] = [method(dice.choice(METHOD_STATES)) for _number in range(dice.randrange(3))]  # type: ignore[assignment]
    twists["history"] = [{"phase": dice.choice(PHASES), "at": dice.choice(TIMES)} for _number in range(5)]  # type: ignore[assignment]
    return {key: value for key, value in twists.items() if dice.random() < 0.3}


def a_vm(dice: random.Random, host: str, events: list[dict[str, Any]], over: bool) -> dict[str, Any]:
    """Return a VM that mostly lists the events, with mostly consistent records."""
    records = []
    for its_event in events:
        phase = dice.choice((None, *["drained"] * 7, *PHASES))
        if phase:
            twist = a_twist(dice) if dice.random() < 0.4 else {}
            missing = {"missing_since": dice.choice((at(-90), at(-12), at(-5)))} if over and dice.random() < 0.8 else {}
            records.append({**record(phase, its_event, ago=dice.choice((1, 20, 90))), **missing, **twist})
    listed = [its_event for its_event in events if not over and dice.random() < 0.8]
    enabled_at = dice.choice((at(-90_000), at(-90_000), at(-60)))
    seen = vm(host, listed, records, in_service=dice.choice((None, True, False)), enabled_at=enabled_at)
    state = dice.choice(STATES)
    if state != "ok":
        seen.update(state=state, last_observation=seen["observation"], observation=None)
    return {**seen, "reached_before": dice.random() < 0.5}


@some.composite
def fleets(draw: Any) -> list[dict[str, Any]]:
    """Return up to three VMs, made by a random generator because hypothesis alone prefers empty ones; then add junk."""
    dice = random.Random(draw(some.integers(0, 2**64)))
    events = [an_event(dice) for _number in range(dice.randint(1, 2))]
    over = dice.random() < 0.3
    fleet = copy.deepcopy([a_vm(dice, host, events, over) for host in HOSTS[: dice.randint(1, 3)]])
    for _time in range(dice.choice((0, 0, 1, 2))):
        spoil(draw, dice.choice(fleet))
    return fleet


def spoil(draw: Any, inside: dict[str, Any]) -> None:
    """Put junk somewhere into the value."""
    key = draw(some.sampled_from(sorted(key for key in inside if key != "host")))
    value = inside[key]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict) and value and draw(some.integers(0, 4)):
        spoil(draw, value)
    else:
        inside[key] = draw(JUNK)


FLEETS = fleets()
CHOICES = some.fixed_dictionaries(
    {"has_health": some.booleans(), "unmanaged": some.sampled_from(["wait", "ignore"]), "pass_interval": some.sampled_from([0, 300])}
)
POLICIES = some.sampled_from(["default", "documentation"])


SEEN: Counter[str] = Counter()


def short_pause(observation: dict[str, Any], event_id: str) -> bool:
    """Return whether a VM lists the event as a short Freeze, as the first rule of the policies does."""
    listed = [its for its in observation["events"] if str(its["event_id"]).strip().lower() == event_id.strip().lower()]
    return any(its.get("event_type") == "Freeze" and its.get("duration_in_seconds") in (0, 9) for its in listed)


def check(fleet: list[dict[str, Any]], found: dict[str, Any]) -> None:
    """Check the invariants of every plan."""
    read = {host for host, about in found["hosts"].items() if about["state"] == "ok"}
    entries = {entry["event_id"].lower(): entry for entry in found["events"]}
    observations = {one["host"]: one["observation"] for one in fleet}
    SEEN.update({step["action"] for step in found["actions"]})
    for step in found["actions"]:
        assert step["host"] in read
        assert step["reason"]
        listed = {str(event["event_id"]).strip().lower() for event in observations[step["host"]]["events"]}
        if step["action"] == "approve":
            for event_id in step["event_ids"]:
                entry = entries[event_id.strip().lower()]
                assert entry["hosts"]
                assert event_id.strip().lower() in listed
                assert set(entry["hosts"]) <= read
                assert set(entry["resources"]) <= set(step["approve_for"])
                if entry["rule"]["approve"] != "now":
                    for part in entry["parts"]:
                        # A VM whose own document has a short pause needs no drain, whatever another VM drained for.
                        if part["host"] in entry["hosts"] and not short_pause(observations[part["host"]], event_id):
                            assert part["changed"]
                            assert {one["state"] for one in part["changed"]} == {"drained"}
        if step["action"] == "recover":
            assert step["event_id"].strip().lower() not in listed
    assert found["done"] <= (not found["actions"])
    assert found["requeue"]["seconds"] >= 0
    assert len(found["requeue"]["watch"]) <= 4


# More examples than elsewhere: few fleets reach an undo. Which ones are made depends on the constants of all modules that are loaded.
@settings(LIMITS, max_examples=1500)
@given(FLEETS, CHOICES, POLICIES)
def any_fleet(fleet: list[dict[str, Any]], choices: dict[str, Any], policy: str) -> None:
    before = copy.deepcopy(fleet)
    choices = {**choices, "notify_targets": ["ops"], "notify_failures": ["pager"]}
    found = make_plan(fleet, policy=policy, settings=choices, now=at(0))
    check(fleet, found)
    # No VM ends the pass of a fleet that has notification targets.
    json.dumps(notifying.messages(found, notifying.nothing(), lambda entry, word, text: notifying.filled("{text} {reason}", entry, word, text), 0.0))
    # Pure: arguments stay unchanged, the result is repeatable, and the plan is plain data.
    assert repr(fleet) == repr(before)
    assert json.dumps(make_plan(fleet, policy=policy, settings=choices, now=at(0))) == json.dumps(found)
    assert all(isinstance(line, str) for line in status(found))
    for entry in found["events"]:
        assert status(found, event_id=entry["event_id"])
    assert isinstance(timeline({one["host"]: one["observation"] for one in fleet}), list)


def test_any_fleet_gives_a_plan_that_keeps_the_rules() -> None:
    SEEN.clear()
    any_fleet()
    # The fleets must reach these acts, or the checks would test nothing.
    assert SEEN["approve"] >= 5
    assert SEEN["recover"] >= 5
    assert SEEN["drain"] >= 20
    assert SEEN["undo"] >= 1


@LIMITS
@given(FLEETS, CHOICES, some.sampled_from(["unreachable", "failed", "excluded"]))
def test_without_observations_nothing_is_done(fleet: list[dict[str, Any]], choices: dict[str, Any], state: str) -> None:
    blind = [{**one, "state": state, "observation": None} for one in fleet]
    assert make_plan(blind, settings=choices, now=at(0))["actions"] == []


@LIMITS
@given(FLEETS, CHOICES)
def test_one_vm_less_read_never_leads_to_an_approval(fleet: list[dict[str, Any]], choices: dict[str, Any]) -> None:
    def approved(observations: list[dict[str, Any]]) -> set[str]:
        steps = make_plan(observations, settings=choices, now=at(0))["actions"]
        return {event_id.lower() for step in steps if step["action"] == "approve" for event_id in step["event_ids"]}

    blind = [{**fleet[0], "state": "unreachable", "observation": None, "last_observation": None}, *fleet[1:]]
    entries = {entry["event_id"].lower(): entry for entry in make_plan(blind, settings=choices, now=at(0))["events"]}
    for event_id in approved(blind):
        assert fleet[0]["host"] not in entries[event_id]["hosts"]
        assert fleet[0]["host"] not in entries[event_id]["resources"]
