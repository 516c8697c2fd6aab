# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What notification targets are told, in which words, how many messages that makes, and what becomes of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from linkify_it import LinkifyIt

from ansible_collections.maintenance.azure.plugins.plugin_utils._controller import notifier
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import notifying
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act.notifications import ALARMS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import notify_targets
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import NOTIFIED_PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import notices as sentences
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, event, plan, record, vm

TARGETS = {"notify": False, "notify_targets": ["ops"], "notify_failures": ["pager"]}


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["word"], one["target"]) for one in found["notices"]]


def texts(found: dict[str, Any], notified: notifying.Notified | None = None) -> dict[str, list[str]]:
    made = notifying.messages(found, notified or notifying.nothing(), lambda _entry, _word, default: default, NOW)
    return {target: [message["text"] for message, _keys in pairs] for target, pairs in made.items()}


def test_one_line_for_an_event_that_a_person_understands() -> None:
    found = plan(vm("vm1", [event()], []), **TARGETS)
    assert texts(found) == {"ops": ["vm1 will be rebooted by Azure at 08:15 UTC; draining, will be approved when done [event E1: noticed]"]}
    assert [one["action"] for one in found["actions"] if one["action"] == "notify"] == [], "no task is run for a target"


def test_only_what_was_delivered_is_recorded_and_what_failed_is_not_sent_again_at_once() -> None:
    drained = record("drained", told=["noticed ops"])
    assert words(plan(vm("vm1", [event()], [drained]), **TARGETS)) == [("drained", "ops")]
    for outcome, changes in (("sent", []), ("failed", []), ("delivered", [{"told": ["drained ops"]}])):
        found = plan(vm("vm1", [event()], [drained]), notified={"vm1\ne1 drained ops": outcome}, **TARGETS)
        assert words(found) == []
        assert [one["changes"] for one in found["actions"] if "told" in one.get("changes", ())] == changes
    # The phase has passed when the answer comes.
    found = plan(vm("vm1", [event()], [drained]), notified={"vm1\ne1 held ops": "delivered"}, **TARGETS)
    assert {"told": ["held ops"]} in [one.get("changes") for one in found["actions"]]


def test_a_phase_of_an_hour_ago_is_no_news() -> None:
    old = record("drained", told=[], history=[{"phase": "noticed", "at": at(-3700)}, {"phase": "drained", "at": at(-3500)}])
    assert words(plan(vm("vm1", [event()], [old]), **TARGETS)) == [("drained", "ops")]


def test_phases_are_chosen() -> None:
    assert words(plan(vm("vm1", [event()], [record("drained", told=[])]), notify_phases=["noticed"], **TARGETS)) == [("noticed", "ops")]
    with pytest.raises(WrongInput, match="respond_notify_phases must be a list of noticed, .*, not 'notcied'"):
        plan(vm("vm1", [event()], []), notify_phases="notcied", **TARGETS)


def many(number: int) -> dict[str, Any]:
    kinds = ("Reboot", "Freeze")
    listed = [vm(f"vm{n}", [event(f"E{n}", (f"vm{n}",), event_type=kinds[n % 2])], []) for n in range(number)]
    return plan(*listed, **TARGETS)


def test_500_events_are_one_readable_message() -> None:
    found = many(500)
    assert len(found["notices"]) == 500
    (text,) = texts(found)["ops"]
    lines = text.splitlines()
    assert len(lines) <= 12 and max(map(len, lines)) <= 160, lines
    assert lines[0] == "Azure maintenance: 500 events changed (noticed)"
    assert "250 reboot events announced, from 08:15 UTC: vm0, vm10, vm100 and 247 more" in lines
    assert len(texts(many(3))["ops"]) == 3


def test_many_events_are_not_a_message_each_iteration() -> None:
    found, before = many(500), {**notifying.nothing(), "handed_at": NOW - 100}
    assert not notifying.is_due(found, before, False, NOW)
    assert notifying.is_due(found, before, True, NOW), "the end of a pass tells the rest"
    assert notifying.is_due(many(2), before, False, NOW)


def crowd(number: int, *calm: str) -> dict[str, Any]:
    """A VM with so many events that it has made up, before and after those of the others."""
    liar = vm("liar", [event(f"{letter}{n}", ("liar",), event_type=f"Kind{n % 20}") for letter in ("A", "Z") for n in range(number // 2)], [])
    return plan(liar, *(vm(host, [event(f"M-{host}", (host,))], []) for host in calm), **TARGETS)


def test_a_vm_with_hundreds_of_events_takes_no_message_of_others() -> None:
    found = crowd(400, "vm1")
    told = texts(found)["ops"]
    assert len(told) <= 4 and [text for text in told if text.startswith("vm1 will be rebooted by Azure at 08:15 UTC;")], told
    before = {**notifying.nothing(), "handed_at": NOW - 1}
    assert notifying.is_due(found, before, False, NOW), "and delays none"
    assert not notifying.is_due(crowd(400), before, False, NOW)


def test_a_vm_that_makes_up_an_alarm_in_each_iteration_is_told_of_every_few_minutes() -> None:
    def held(number: int, *others: Any) -> dict[str, Any]:
        its_event = event(f"A{number}", ("liar", "stranger"), not_before=at(200))
        return plan(vm("liar", [its_event], [record("drained", its_event, told=[])]), *others, **TARGETS)

    notified: Any = {**notifying.nothing(), "handed_at": NOW - 5}
    for number in range(40):
        is_due = notifying.is_due(held(number), notified, False, NOW)
        assert is_due == (number < 30)
        notified["told_of"] = notifying.told_of(held(number), notified) if is_due else notified["told_of"]
    assert notifying.is_due(held(99), notified, True, NOW) and notifying.is_due(held(99), notified, False, NOW + 300)
    true = event("T1", ("web1", "liar", "stranger"), not_before=at(200))
    assert notifying.is_due(held(99, vm("web1", [true], [record("drained", true, told=[])])), notified, False, NOW), "of others at once"


def test_a_vm_with_hundreds_of_events_makes_no_result_of_a_pass_large() -> None:
    found = crowd(1000, "vm1")
    assert len(found["notices"]) == 201 and [one["host"] for one in found["notices"]].count("vm1") == 1


def test_a_vm_with_hundreds_of_events_takes_no_line_of_a_digest() -> None:
    (text,) = texts(crowd(400, "vm1", "vm2", "vm3", "vm4"))["ops"]
    assert len(text.splitlines()) <= 14 and "4 reboot events announced, from 08:15 UTC: vm1, vm2, vm3 and 1 more" in text


def test_no_mention_or_tag_reaches_a_chat() -> None:
    hostile = event(event_type="<!channel> @here `x`\n*b*")
    (text,) = texts(plan(vm("vm1", [hostile], []), **TARGETS))["ops"]
    assert not set("<>@`*\n") & set(text) and "an event of a type unknown here" in text, text


@pytest.mark.parametrize("odd", ["E1 ", " e1", "E1\u00a0", "E1\n"])
def test_an_event_id_with_spaces_around_it_is_one_event_and_ends_no_pass(odd: str) -> None:
    for document, kept in ((odd, "E1"), ("E1", odd)):
        found = plan(vm("vm1", [event(document)], [record("drained", event_id=kept, told=[])]), vm("vm2", [event("E2", ("vm2",))], []), **TARGETS)
        assert [text.split(":")[0].split(" ")[0] for text in texts(found)["ops"]] == ["vm1", "vm2"]
        results: Any = {**notifying.nothing(), "results": {f"vm1\ne1 {word} ops": ["sent", "", NOW] for word in ("noticed", "drained")}}
        assert [one["event_id"] for one in notifying.owed(found, results)] == ["E2"], "it is told once, however it is written"
    tasks = plan(vm("vm1", [event("E1")], [record("drained", event_id=odd, told=[])]))
    assert {one["event_id"] for one in tasks["actions"] if one["action"] == "notify"} == {tasks["events"][0]["event_id"]}


LURES = (
    "sign in at https://evil.example/x",
    "ftp://evil.example",
    "www.evil.com",
    "login-azure.support",
    "[sign in](https://evil.example)",
    "<https://evil.example|sign in>",
    "mailto:me@evil.example",
    "@everyone @here <!channel> <@U1> @all",
    "`x` *b* | t |",
    "\u0435vil.\u0440\u0444",
    "https*://evil*.example*.com",
    "https&#58;//evil&#46;com &commat;here",
    "//203.0.113.7/x tel:+4930 \\\\evil.com\\x",
    "evil\u3002com evil\uff0ecom evil\uff61com evil\u2024com \uff20here",
)


@pytest.mark.parametrize("lure", LURES)
def test_no_field_of_an_event_becomes_a_link_or_a_mention(lure: str) -> None:
    web1 = "web1.example.com"
    names = (web1, lure)
    its_event = event(lure, names, event_type=lure, description=lure)
    found = plan(vm(web1, [its_event], [record("failed", its_event, reason=lure, told=[])], vm_name=web1), on_drain_failure="hold", **TARGETS)
    (entry,) = found["events"]
    entry.update(dict.fromkeys(("reason", "next", "outcome", "not_before"), lure))
    made = [text for told in texts(found).values() for text in told] + [sentences.digest([(entry, {"failed": [web1], "held": [web1]})], NOW)]
    made += [sentences.message(entry, {word: [web1]}, NOW) for word in (*NOTIFIED_PHASES, *ALARMS)]
    made += [notifying.filled("{text} {reason} {event_id} {event_type} {next} {not_before} {hosts}", entry, "held", "") for _one in "1"]
    for text in made:
        text = re.sub(r" \[event ([^\[\]]*)\]$", r" \1", text)
        assert not set("<>@`*|[]&#\u2024\u3002\uff0e\uff61\uff20") & set(text), text
        assert not re.search(r"://|\w\.[^\W\d_]{2}|mailto:", text.replace(web1, "web1")), text


SIGNS = ["https", "ftp", ":", "//", "/", ".", "com", "evil", "www", "mailto:", "@", "&#58;", "&", "#", ";", "*", "\\", "`", "<", ">", "|", "[", "]", "(", ")"]
SIGNS += [" ", "ru", "\u3002", "\uff0e", "\u200b", "\uff1a", "_", "-", "~", "tel:", "\u0440\u0444", "1.2.3.4", "%", "=", ".json"]


@settings(max_examples=500, deadline=None)
@given(some.lists(some.one_of(some.sampled_from(SIGNS), some.text(max_size=2)), max_size=14).map("".join))
def test_what_is_cleaned_has_no_link_and_stays_clean(text: str) -> None:
    clean = sentences.plain(text)
    assert sentences.plain(clean) == clean[: sentences.LONGEST]
    assert LinkifyIt().match(clean) is None, clean


def test_names_of_vms_units_and_times_stay_as_they_are() -> None:
    text = "web1.example.com: nginx.service failed 3.5 s after 10.0.0.4, see /etc/x.conf. Next: x"
    assert sentences.plain(text, ["web1.example.com"]) == text


def test_what_fails_for_good_and_what_is_held_late_goes_to_its_own_targets() -> None:
    held = plan(vm("vm1", [event("E1", ("vm1", "stranger"), not_before=at(200))], [record("drained", told=["noticed ops", "drained ops"])]), **TARGETS)
    assert ("held_late", "pager") in words(held)
    assert "is held" in texts(held)["pager"][0]
    early = plan(vm("vm1", [event("E1", ("vm1", "stranger"), not_before=at(4000))], []), **TARGETS)
    assert not [target for _word, target in words(early) if target == "pager"]


def failed(host: str, told: list[str]) -> dict[str, Any]:
    """A VM of event E1 whose drain has failed for good, and what its record says of who was told."""
    return vm(host, [event("E1", ("vm1", "vm2"))], [record("failed", event("E1", ("vm1", "vm2")), told=told)])


GIVEN_UP = {**TARGETS, "on_drain_failure": "hold"}
EVERY_WORD = [f"{word}{target}" for word in (*NOTIFIED_PHASES, *ALARMS) for target in ("", " ops", " pager")]


def test_no_vm_hides_the_failure_of_another_by_what_its_record_says_was_told() -> None:
    for liar, victim in (("vm1", "vm2"), ("vm2", "vm1")):
        found = plan(*sorted((failed(liar, EVERY_WORD), failed(victim, [])), key=lambda one: str(one["host"])), **{**GIVEN_UP, "notify": True})
        assert {("failed", "ops"), ("given_up", "pager")} <= set(words(found))
        assert [one["host"] for one in found["actions"] if one["action"] == "notify" and one["phase"] == "failed"] == [victim]
    # What was delivered is recorded on each of them, and then nobody is told again.
    done = [f"{host}\ne1 {words}" for host in ("vm1", "vm2") for words in ("failed ops", "given_up pager")]
    found = plan(failed("vm1", []), failed("vm2", []), notified=dict.fromkeys(done, "delivered"), **GIVEN_UP)
    writes = [(one["host"], one["changes"]) for one in found["actions"] if one["action"] == "write" and "told" in one["changes"]]
    assert writes == [(host, {"told": ["failed ops", "given_up pager"]}) for host in ("vm1", "vm2")]
    quiet = plan(*(failed(host, ["noticed ops", "failed ops", "given_up pager"]) for host in ("vm1", "vm2")), **GIVEN_UP)
    assert words(quiet) == []


def test_no_vm_makes_the_failure_of_another_old_news() -> None:
    liar = failed("vm1", [])
    liar["observation"]["records"][0]["history"] = [{"phase": phase, "at": at(-9000)} for phase in ("noticed", "failed")]
    assert ("failed", "ops") in words(plan(liar, failed("vm2", []), **TARGETS))


def test_no_vm_hides_that_its_event_is_held_near_its_deadline() -> None:
    def held(host: str, told: list[str]) -> dict[str, Any]:
        its_event = event("E1", ("vm1", "vm2", "stranger"), not_before=at(200))
        return vm(host, [its_event], [record("drained", its_event, told=told)])

    found = plan(held("vm1", EVERY_WORD), held("vm2", []), **TARGETS)
    assert ("held_late", "pager") in words(found)
    assert words(plan(held("vm1", EVERY_WORD), held("vm2", EVERY_WORD), **TARGETS)) == []


@pytest.mark.parametrize(
    ("status", "phase", "more"),
    [
        ("Started", "drained", {}),
        ("Scheduled", "approved", {"approved_at": at(-10)}),
        ("Scheduled", "started", {"started_at": at(-10)}),
        ("Scheduled", "failed", {}),
        ("Scheduled", "draining", {}),
        ("Scheduled", "recovered", {"outcome": "completed"}),
        ("Scheduled", "drained", {"decision": {"action": "let_it_come", "who": "x", "why": "y", "at": at(-5), "until": None, "vm": None}}),
    ],
)
def test_no_vm_says_for_another_that_its_event_is_not_held(status: str, phase: str, more: dict[str, Any]) -> None:
    names = ("vm1", "vm2", "stranger")
    true, lie = event("E1", names, not_before=at(200)), event("E1", names, status, not_before=at(200))
    for liar, victim in (("vm1", "vm2"), ("vm2", "vm1")):
        vms = [vm(liar, [lie], [record(phase, lie, told=EVERY_WORD, **more)]), vm(victim, [true], [record("drained", true, told=[])])]
        # The victim has answered so before.
        found = plan(*sorted(({**one, "listed_before": one["observation"]["events"]} for one in vms), key=lambda one: str(one["host"])), **TARGETS)
        assert ("held_late", "pager") in words(found) and "is held" in texts(found)["pager"][0]


def test_a_document_of_some_seconds_ago_is_no_alarm_until_it_was_read_once_more() -> None:
    drained = {name: event("E1", ("vm1", "vm2"), status, not_before=at(100)) for name, status in (("vm1", "Started"), ("vm2", "Scheduled"))}
    vms = [vm(name, [one], [record("drained", one, told=EVERY_WORD)]) for name, one in drained.items()]
    vms[1]["observation"]["records"][0]["told"] = []
    assert "held_late" not in dict(words(plan(*vms, **TARGETS)))
    again = [{**one, "listed_before": one["observation"]["events"]} for one in vms]
    assert ("held_late", "pager") in words(plan(*again, **TARGETS))


def test_what_is_approved_or_not_to_be_approved_is_not_held() -> None:
    both = event("E1", ("vm1", "vm2"), not_before=at(200))
    noted = record("drained", both, told=[], approving_at=at(-11))
    found = plan(vm("vm1", [both], [record("approved", both, told=[], approving_at=at(-11), approved_at=at(-10))]), vm("vm2", [both], [noted]), **TARGETS)
    assert not [one for one in words(found) if one[0] == "held_late"]
    rule = {"name": "x", "drain": True, "approve": "never", "order": 1}
    started = vm("vm1", [event("E1", ("vm1", "vm2"), "Started")], [record("drained", both, told=[], rule=rule)])
    never = plan(started, vm("vm2", [both], [record("drained", both, told=[], rule=rule)]), **TARGETS)
    assert not [one for one in words(never) if one[0] == "held_late"]


def test_results() -> None:
    sent: Any = {"file": "none", "ends": 50.0, "keys": {"ops": [["e1 noticed ops"]]}}
    notified: notifying.Notified = {**notifying.nothing(), "sent": [sent], "results": {"e1 noticed ops": ["sent", "", 1.0]}}
    assert notifying.collect(notified, notifier.results, 49.0) == notified
    failed = notifying.collect(notified, notifier.results, 51.0)
    assert failed["sent"] == [] and failed["results"]["e1 noticed ops"][0] == "failed"
    (remark,) = notifying.remarks(failed)
    assert remark.startswith("notification target ops was not told of event e1: the program that sends gave no answer; the next passes try again")
    assert notifying.collect(failed, notifier.results, 352.0)["results"] == {}, "a long pass tries it again"


def test_no_event_id_passes_for_the_test_message() -> None:
    for event_id in ("test", "test test"):
        results: Any = {**notifying.nothing(), "results": {f"{event_id} noticed ops": ["failed", "timed out", NOW]}}
        assert notifying.test_results(results) == ([], []) and len(notifying.remarks(results)) == 1
    results = {**notifying.nothing(), "results": {"test test ops": ["failed", "timed out", NOW], "test test pager": ["delivered", "", NOW]}}
    told, lost = ["respond_notify_test: the test message was delivered to pager."], ["respond_notify_test: ops was not told: timed out"]
    assert (notifying.test_results(results), notifying.remarks(results)) == ((told, lost), [])


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("slack://a/b/c", ["slack"]),
        (["json://a", "json://b", "file:/run/hook", {"name": "ops", "url": "env:HOOK"}], ["json", "json2", "target", "ops"]),
        ([], []),
        (None, []),
    ],
)
def test_targets(given: Any, names: list[str]) -> None:
    assert [one.name for one in notify_targets.load("respond_notify", given)] == names


@pytest.mark.parametrize("given", [7, ["secret"], [{"url": "json://secret", "nmae": "x"}], [{"name": "a b", "url": "json://secret"}], ["json://secret"] * 9])
def test_wrong_targets_are_refused_without_their_urls(given: Any) -> None:
    with pytest.raises(WrongInput) as error:
        notify_targets.load("respond_notify", given)
    assert "secret" not in str(error.value)


def test_references(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("a/b c\n")
    monkeypatch.setenv("HOOK", "json://127.0.0.1/x")

    def resolve(url: str) -> str:
        return notifier.resolve(url, notify_targets.WHOLE, notify_targets.PART)

    assert resolve(f"json://u:{{file:{tmp_path}/secret}}@h") == "json://u:a%2Fb%20c@h"
    assert resolve("env:HOOK") == "json://127.0.0.1/x"
    with pytest.raises(ValueError, match="env:NONE is missing, empty or cannot be read"):
        resolve("env:NONE")


def test_a_message_is_filled_once_and_with_known_fields_alone() -> None:
    entry = {"event_id": "E1", "hosts": ["web1", "web2"], "reason": "{text} {phase}", "next": None}
    assert notifying.filled("[{phase}] {text} {hosts} {reason} {next}{nothing} {{ x }}", entry, "held", "web1 waits") == (
        "[held] web1 waits web1, web2 {text} {phase} {nothing} {{ x }}"
    )
    assert (notifying.filled("", entry, "held", "web1 waits"), notifying.filled("{text}", entry, "held", "{phase}")) == ("web1 waits", "{phase}")
