# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Items 10 and 15: what a VM or an event says is shown on one line and without tricks, and no event can be chosen in the place of another."""

from __future__ import annotations

import copy
import pathlib
import typing as t

import pytest
import records
from lab.simulator import Simulator
from planning import FAILED, Observation, Scene, a_filter

EVIL = "\x1b[2J\x1b]0;title\x07red\r\nFAILED fake\n\u202egnp.exe\u2028next\u2029\x9b31m\u2066\x00\x7f"
BAD = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2067\u2068\u2069"}
VMS = ("liar", "web1")


class Stage(t.NamedTuple):
    scene: Scene
    all_observations: dict[str, Observation]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Stage]:
    simulator = Simulator(VMS, 1, "--switch", "rate_limit=0")
    try:
        scene = Scene(tmp_path_factory.mktemp("screens"), simulator, VMS)
        scene.event("own", "Reboot", ["liar"])
        scene.event("others", "Reboot", ["web1"])
        yield Stage(scene, scene.all_observations())
    finally:
        simulator.close()


def lied(stage: Stage, change: t.Callable[[Observation], None]) -> dict[str, Observation]:
    observation = copy.deepcopy(stage.all_observations["liar"])
    change(observation)
    return {**stage.all_observations, "liar": observation}


def _event(**changes: t.Any) -> t.Callable[[Observation], None]:
    return lambda observation: observation["events"][0].update(changes)


def _record(**changes: t.Any) -> t.Callable[[Observation], None]:
    def change(observation: Observation) -> None:
        event = {**copy.deepcopy(observation["events"][0]), **changes.pop("event", {})}
        method = records.method("service", {})
        found = {**records.record(event, {**method, **changes.pop("method", {})}, phase="failed"), "outcome": None, "missing_since": None}
        observation["records"] = [{**found, **changes}]

    return change


def _observation(**changes: t.Any) -> t.Callable[[Observation], None]:
    return lambda observation: observation.update(changes)


def _replaced(**changes: t.Any) -> t.Callable[[Observation], None]:
    def change(observation: Observation) -> None:
        observation.clear()
        observation.update(changes)

    return change


LIES: dict[str, t.Callable[[Observation], None]] = {
    "description": _event(description=EVIL),
    "type": _event(event_type=EVIL),
    "id": _event(event_id=EVIL),
    "source": _event(event_source=EVIL),
    "status": _event(event_status=EVIL),
    "resources": _event(resources=["liar", EVIL]),
    "who": _record(decision={**records.word("hold"), "who": EVIL}),
    "why": _record(decision={**records.word("hold"), "why": EVIL}),
    "rule": _record(rule={"name": EVIL, "drain": True, "approve": "after_drain"}),
    "reason": _record(reason=EVIL),
    "method": _record(method={"method": EVIL, "id": EVIL}),
    "found": _record(method={"before": {EVIL: EVIL}}),
    "error": _record(method={"error": EVIL}),
    "problems": _observation(records_problems=[EVIL]),
    "health": _observation(in_service=False, in_service_why=EVIL),
    "name": _observation(vm_name=EVIL),
    "lease": _observation(leases=[{"name": "n", "run": "abcdef", "event_id": EVIL, "kind": "events", "who": EVIL, "groups": {EVIL: EVIL}, "expired": False}]),
    "failed": _replaced(failed=True, msg=EVIL),
    "unreachable": _replaced(unreachable=True, msg=EVIL),
    "unreadable": _observation(records_readable=False, records_problems=[EVIL]),
}


@pytest.mark.parametrize("what", list(LIES))
def test_all_that_is_shown_is_plain(stage: Stage, what: str) -> None:
    plan = stage.scene.plan(lied(stage, LIES[what]))
    show = a_filter("status_lines")
    shown = list(show(plan))
    for event in plan["events"]:
        shown += show(plan, event_id=event["event_id"])
    shown += [item["reason"] for item in plan["failed"]] + [step["reason"] for step in plan["actions"]]
    raw = [line for line in shown if BAD & set(line)]
    assert raw == [], repr(raw[0][:300])


# --- 15: which event is meant ----------------------------------------------------------------------------------------
def beside(stage: Stage, event_id: str) -> dict[str, Observation]:
    """The liar lists one event more, whose id is made for it."""
    return lied(stage, lambda observation: observation["events"].append({**observation["events"][0], "event_id": event_id}))


def written(stage: Stage, all_observations: t.Mapping[str, Observation], typed: str) -> set[str]:
    """The events that an override would be written for, as Azure writes ids; none where it is refused."""
    try:
        return {event_id.strip().upper() for event_id, _host in stage.scene.decide(all_observations, typed, "approve")}
    except Exception as error:
        assert typed in str(error) or "event" in str(error), error
        return set()


@pytest.mark.parametrize("length", [8, 13, 35])
def test_the_beginning_of_an_id_is_enough(stage: Stage, length: int) -> None:
    mine = stage.scene.events["others"]
    assert written(stage, stage.all_observations, mine[:length].lower()) == {mine}


CONFUSIONS: dict[str, t.Callable[[str], str]] = {
    "the beginning itself": lambda mine: mine[:8],
    "the same beginning": lambda mine: mine[:8] + "-0000-4000-8000-000000000000",
    "all but the end": lambda mine: mine[:-1],
    "more than all": lambda mine: mine + "0",
    "another case": lambda mine: mine.swapcase() + " ",
    "a pattern": lambda mine: mine[:7] + "*",
    "letters of another script": lambda mine: mine[:8].replace("0", "\u041e") + mine[8:],
}


@pytest.mark.parametrize("confusion", list(CONFUSIONS))
@pytest.mark.parametrize("typed", [8, 36])
def test_no_other_event_is_taken(stage: Stage, confusion: str, typed: int) -> None:
    mine = stage.scene.events["others"]
    found = written(stage, beside(stage, CONFUSIONS[confusion](mine)), mine[:typed])
    assert found <= {mine}, "a person's approval went to the event that the liar made"
    if typed == 36:
        assert found == {mine}, "the whole id is not enough any more"


@pytest.mark.parametrize("typed", ["1", "2", "#1", "*", ".", "-", " "])
def test_what_says_nothing_chooses_nothing(stage: Stage, typed: str) -> None:
    assert written(stage, beside(stage, "x"), typed) == set()


def test_a_silent_liar_leaves_the_choice(stage: Stage, tmp_path: pathlib.Path) -> None:
    mine = stage.scene.events["others"]
    assert written(stage, {**stage.all_observations, "liar": FAILED}, mine) == {mine}
