# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators were told of a VM stands in its own record: no VM says for another that they know, or that something has happened."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import notifying
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import notifications
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act.notifications import ALARMS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import NOTIFIED_PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import notices as sentences
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, event, plan, record, vm

TARGETS = {"notify": False, "notify_targets": ["ops"], "notify_failures": ["pager"]}
EVERY_WORD = [f"{word}{target}" for word in (*NOTIFIED_PHASES, *ALARMS) for target in ("", " ops", " pager")]
BOTH = ("vm1", "vm2")
ORDERS = [("vm1", "vm2"), ("vm2", "vm1")]


def of(host: str, phase: str, told: list[str], status: str = "Scheduled", listed: bool = True, **more: Any) -> dict[str, Any]:
    """A VM of event E1, whose record says that operators were told these words."""
    its_event = event("E1", BOTH, status)
    return vm(host, [its_event] if listed else [], [record(phase, its_event, told=told, **more)])


def planned(*vms: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return plan(*sorted(vms, key=lambda one: str(one["host"])), **{**TARGETS, **settings})


def texts(found: dict[str, Any], target: str = "ops") -> list[str]:
    made = notifying.messages(found, notifying.nothing(), lambda _entry, _word, default: default, NOW)
    return [message["text"] for message, _keys in made.get(target, ())]


STEPS: list[tuple[str, str, dict[str, Any]]] = [
    ("noticed", "noticed", {}),
    ("drained", "drained", {}),
    ("approved", "approved", {"approving_at": at(-11), "approved_at": at(-10)}),
    ("started", "started", {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5)}),
    ("gone", "gone", {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5), "outcome": "completed", "listed": False}),
]


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
@pytest.mark.parametrize(("word", "phase", "more"), STEPS)
def test_no_vm_hides_a_phase_of_another_by_what_its_record_says_was_told(liar: str, victim: str, word: str, phase: str, more: dict[str, Any]) -> None:
    found = planned(of(liar, phase, EVERY_WORD, **more), of(victim, phase, [], **more))
    assert (victim, word, "ops") in [(one["host"], one["word"], one["target"]) for one in found["notices"]]
    assert not [one for one in found["notices"] if one["host"] == liar]
    (text,) = texts(found)
    assert text.startswith(victim) and liar not in text


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_a_vm_that_keeps_nothing_is_told_of_again_alone(liar: str, victim: str) -> None:
    (text,) = texts(planned(of(liar, "drained", []), of(victim, "drained", EVERY_WORD)))
    assert text.startswith(liar) and victim not in text


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
@pytest.mark.parametrize(("phase", "more"), [("approved", {"approved_at": at(-10)}), ("started", {"started_at": at(-5)}), ("drained", {"status": "Started"})])
def test_what_one_vm_says_has_happened_is_told_of_that_vm_alone(liar: str, victim: str, phase: str, more: dict[str, Any]) -> None:
    word = "approved" if phase == "approved" else "started"
    found = planned(of(liar, phase, [], **more), of(victim, "drained", ["noticed ops", "drained ops"]))
    assert {one["host"] for one in found["notices"] if one["word"] == word} == {liar}
    assert [text for text in texts(found) if text.startswith(f"{liar}:") and victim not in text]


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
@pytest.mark.parametrize("word", ["started", "failed"])
def test_what_was_told_of_one_vm_in_this_pass_is_told_of_another_when_it_happens_there(liar: str, victim: str, word: str) -> None:
    known = ["noticed ops", "drained ops", "approved ops"]
    more: dict[str, Any] = {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5)} if word == "started" else {}
    first = planned(of(liar, word, known, **more), of(victim, "drained", known), on_drain_failure="hold")
    sent = [key for _message, keys in notifying.messages(first, notifying.nothing(), lambda _entry, _word, text: text, NOW)["ops"] for key in keys]
    results = dict.fromkeys(sent, ["delivered", "", NOW])
    notified: notifying.Notified = {**notifying.nothing(), "results": results, "handed_at": NOW}
    later = planned(of(liar, word, known, **more), of(victim, word, known, **more), notified=notifying.outcomes(notified), on_drain_failure="hold")
    assert [one["host"] for one in notifying.owed(later, notified) if one["word"] == word and one["target"] == "ops"] == [victim]
    writes = [one["host"] for one in later["actions"] if f"{word} ops" in one.get("changes", {}).get("told", ())]
    assert writes == [liar], "only of what was delivered a record says that it was"
    # A failure at once. That the same has happened to another VM of an event, once a minute: many VMs come back one by one.
    assert notifying.is_due(later, notified, False, NOW + 1) == (word == "failed")
    notified = notifying.gathering(later, notified, NOW + 1)
    assert notifying.is_due(later, notified, False, NOW + 61) and notifying.is_due(later, notified, True, NOW + 1)
    assert notifying.is_due(later, notified, False, NOW + 60) == (word == "failed")


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_what_some_vms_of_an_event_say_waits_a_minute_for_the_others(liar: str, victim: str) -> None:
    known = ["noticed ops", "drained ops", "approved ops"]
    more: dict[str, Any] = {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5)}
    before: notifying.Notified = {**notifying.nothing(), "handed_at": NOW - 900}
    partly, every = (planned(of(liar, "drained", known, **about), of(victim, "started", known, **more)) for about in ({}, more))
    assert not notifying.is_due(partly, before, False, NOW) and notifying.is_due(every, before, False, NOW)
    then = notifying.gathering(partly, before, NOW)
    assert not notifying.is_due(partly, then, False, NOW + 59) and notifying.is_due(partly, then, False, NOW + 60), "and no longer"
    assert notifying.gathering(partly, then, NOW + 30) == then and notifying.gathering({**partly, "notices": []}, then, NOW)["gathers_since"] == 0


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_a_failure_is_told_with_the_reason_of_its_own_vm(liar: str, victim: str) -> None:
    known = of(victim, "failed", ["noticed ops", "failed ops"], reason="disk full")
    found = planned(of(liar, "failed", [], reason="all is well"), known, on_drain_failure="hold")
    (text,) = texts(found)
    assert text.startswith(f"{liar}: failed") and "all is well" in text and victim not in text.split("Next:")[0]


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
@pytest.mark.parametrize(
    ("word", "more"), [("started", {"started_at": at(-5)}), ("approved", {"approved_at": at(-5)}), ("failed", {}), ("gone", {"outcome": "completed"})]
)
def test_no_vm_hides_by_what_happens_to_it_what_is_told_of_another(liar: str, victim: str, word: str, more: dict[str, Any]) -> None:
    found = texts(planned(of(liar, word, ["noticed ops"], **more), of(victim, "noticed", [])))
    assert [text for text in found if text.startswith(f"{victim} will be rebooted")] and len(found) == 2
    # More VMs than messages: the digest has them all, and counts the event once.
    (entry,) = planned(of("vm1", "drained", []), of("vm2", "drained", []))["events"]
    digest = sentences.digest([(entry, {"noticed": ["vm1"], "started": ["vm1"]}), (entry, {"noticed": ["vm2"]})], NOW)
    assert digest.startswith("Azure maintenance: 1 events changed") and "1 reboot events announced, from 08:15 UTC: vm1, vm2" in digest


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_the_reason_of_another_vm_says_whose_it_is(liar: str, victim: str) -> None:
    its_event = event("E1", (*BOTH, "stranger"), due=60)
    vms = [vm(liar, [its_event], [record("failed", its_event, told=EVERY_WORD, reason="all is well")]), vm(victim, [its_event], [])]
    found = planned(*vms, on_drain_failure="hold")
    (text,) = texts(found, "pager")
    assert text.startswith(f"{victim}: reboot") and f"is held: {liar}: the drain failed; its record says: all is well." in text
    fields = notifying.messages(found, notifying.nothing(), lambda entry, word, _text: f"{word} {entry['hosts']} {entry['reason']}", NOW)["pager"]
    assert [message["text"] for message, _keys in fields] == [f"held_late ['{victim}'] {liar}: the drain failed; its record says: all is well"]


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_how_an_event_ended_is_the_word_of_each_vm(liar: str, victim: str) -> None:
    over: dict[str, Any] = {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5), "listed": False}
    known = ["noticed ops", "approved ops", "started ops"]
    found = planned(of(liar, "gone", EVERY_WORD, **{**over, "outcome": "cancelled"}), of(victim, "gone", known, outcome="completed", **over))
    assert [text for text in texts(found) if text.startswith(f"{victim}: the reboot is over (completed)")]
    # In the very plan that writes the outcome down.
    now = planned(of(victim, "started", known, **{**over, "missing_since": at(-400)}))
    assert texts(now)[0].startswith(f"{victim}: the reboot is over (completed); being put back")


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_no_vm_says_for_another_that_it_is_held_near_its_deadline(liar: str, victim: str) -> None:
    names = (*BOTH, "stranger")
    vms = [vm(host, [its], [record("drained", its, told=[])]) for host, its in ((liar, event("E1", names, due=60)), (victim, event("E1", names, due=5000)))]
    # Both have answered so before: a document that may only be old is no alarm.
    again = [{**one, "listed_before": one["observation"]["events"]} for one in vms]
    assert [one["host"] for one in planned(*again)["notices"] if one["word"] == "held_late"] == [liar]


def test_a_vm_that_was_not_read_is_named_where_all_of_the_event_are_told_of() -> None:
    found = planned(of("vm1", "drained", ["drained ops"]), {"host": "vm2", "state": "unreachable", "error": "timed out"})
    assert [text for text in texts(found) if text.startswith("vm1, vm2 ")]


def test_the_failure_of_a_vm_that_is_not_read_any_more_is_told_by_its_name() -> None:
    gone = of("vm2", "failed", [], reason="disk full")
    silent = {"host": "vm2", "state": "unreachable", "error": "timed out", "last_observation": gone["observation"]}
    found = planned(of("vm1", "drained", ["noticed ops", "drained ops"]), silent, on_drain_failure="hold")
    assert [text for text in texts(found) if text.startswith("vm2: failed")] and not [text for text in texts(found) if text.startswith("vm1: failed")]
    both = planned(of("vm1", "failed", []), silent, on_drain_failure="hold")
    assert [one["host"] for one in both["notices"] if one["word"] == "failed"] == ["vm1", "vm2"]
    told = dict.fromkeys([notifications.Notice(**one).key for one in found["notices"]], "delivered")
    again = planned(of("vm1", "drained", ["noticed ops", "drained ops"]), silent, on_drain_failure="hold", notified=told)
    assert not [one for one in again["actions"] if one["host"] == "vm2"], "nothing is written on a VM that was not read"
    assert tasks_of(planned(of("vm1", "drained", []), silent, on_drain_failure="hold", **TASKS), "failed") == ["vm1"]


def test_no_vm_takes_the_places_of_notices_about_another() -> None:
    own = [event(f"A{number:03}", ("vm1",)) for number in range(300)]
    shared = event("E1", BOTH)
    found = planned(vm("vm1", [*own, shared], []), vm("vm2", [shared], []))
    assert ("vm2", "E1") in [(one["host"], one["event_id"]) for one in found["notices"]]


# --- Tasks of operators (respond_notify_tasks): once for an event and a phase ---

TASKS = {"notify": True, "notify_targets": [], "notify_failures": [], "run": {"id": "run2"}}


def tasks_of(found: dict[str, Any], word: str = "drained") -> list[str]:
    return [one["host"] for one in found["actions"] if one["action"] == "notify" and one["phase"] == word]


def recorded(found: dict[str, Any], word: str = "drained") -> list[str]:
    return [one["host"] for one in found["actions"] if one["action"] == "write" and word in one["changes"].get("told", ())]


@pytest.mark.parametrize(("liar", "victim"), ORDERS)
def test_no_vm_keeps_tasks_from_running_by_what_its_record_says(liar: str, victim: str) -> None:
    assert tasks_of(planned(of(liar, "drained", EVERY_WORD), of(victim, "drained", []), **TASKS)) == [victim]
    for since, run in ((at(-9000), "run1"), (at(-10), "run2")):
        silent = of(liar, "drained", [], untold={"drained": {"since": since, "run": run}})
        assert tasks_of(planned(silent, of(victim, "drained", []), **TASKS)) == [victim]


def test_tasks_run_once_for_an_event_and_it_is_recorded_on_all_of_its_vms() -> None:
    first = planned(of("vm1", "drained", []), of("vm2", "drained", []), **TASKS)
    assert (tasks_of(first), recorded(first)) == (["vm1"], [])
    ran = {"notified": notifying.outcomes({**notifying.nothing(), "by_tasks": notifying.by_tasks(notifying.nothing(), first["actions"])})}
    then = planned(of("vm1", "drained", ["noticed", "drained"]), of("vm2", "drained", []), **TASKS, **ran)
    assert (tasks_of(then), recorded(then)) == ([], ["vm2"])
    # One that keeps nothing is tried once in a pass, and then another.
    again = planned(of("vm1", "drained", []), of("vm2", "drained", []), **TASKS, **ran)
    assert (tasks_of(again), recorded(again)) == (["vm2"], [])
    ran["notified"]["vm2\ne1 drained"] = "taken"
    assert tasks_of(planned(of("vm1", "drained", []), of("vm2", "drained", []), **TASKS, **ran)) == []


# --- Any lie ---

VICTIMS: dict[str, tuple[str, dict[str, Any]]] = {
    "noticed": ("noticed", {}),
    "failed": ("failed", {}),
    "approved": ("approved", {"approving_at": at(-11), "approved_at": at(-10)}),
    "started": ("started", {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5)}),
    "gone": ("gone", {"approving_at": at(-11), "approved_at": at(-10), "started_at": at(-5), "outcome": "completed"}),
}


def a_liar(dice: random.Random) -> dict[str, Any]:
    """A VM of event E1 that says anything of it, and lists others."""
    its_event = event(
        "E1", dice.choice((BOTH, ("vm1", "vm2", "vm3"), ("liar",), ())), dice.choice(("Scheduled", "Started")), due=dice.choice((None, -5, 60, 900))
    )
    own = [event(f"{dice.choice('AZ')}{number}", ("liar", *BOTH)) for number in range(dice.choice((0, 0, 1, 5, 300)))]
    stamps = {key: dice.choice((None, at(-9000), at(-5), at(9000))) for key in ("approving_at", "approved_at", "started_at")}
    history = [{"phase": dice.choice(PHASES), "at": at(dice.choice((-9000, -50, 0, 9000)))} for _number in range(dice.randrange(4))]
    lie = record(
        dice.choice(PHASES), its_event, told=dice.choice(([], EVERY_WORD)), history=history, outcome=dice.choice((None, "completed", "cancelled")), **stamps
    )
    lie["untold"] = dice.choice((None, {word: {"since": at(-9000), "run": "run2"} for word in NOTIFIED_PHASES}))
    return vm(dice.choice(BOTH), [*own, *([its_event] if dice.random() < 0.8 else [])], [lie] if dice.random() < 0.8 else [])


@settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(some.integers(0, 2**32))
def test_whatever_a_vm_says_of_an_event_the_others_are_told_of_by_name(seed: int) -> None:
    dice = random.Random(seed)
    liar, word = a_liar(dice), dice.choice(list(VICTIMS))
    host = next(one for one in BOTH if one != liar["host"])
    phase, more = VICTIMS[word]
    victim = of(host, phase, [], listed=word != "gone", **more)
    found = planned(liar, victim, notify=True, run={"id": "run2", "who": "x"})
    its = {one["word"] for one in found["notices"] if (one["host"], one["event_id"].lower()) == (host, "e1")}
    assert {"noticed", word} <= its, (its, found["events"])
    for pairs in notifying.messages(found, notifying.nothing(), lambda _entry, _word, text: text, NOW).values():
        names = [(message["text"], {key.partition("\n")[0] for key in keys}) for message, keys in pairs]
        assert all(name in text or "more" in text for text, told in names for name in told), names
    if word == "failed":
        assert host in tasks_of(found, "failed")
