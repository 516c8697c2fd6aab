# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""When notices of a plan are handed over, how they become messages, and what became of them. A pure function of a pass's state and of results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.names import folded
from ...module_utils._scheduled_events.core.types import Values
from .._controller.notifier import Sent
from .._core.shares import few_of_each
from .._core.short_forms import suggestion
from .._core.wrong_input import WrongInput
from .._maintenance.act.notifications import ALARMS, FAILURES, OWN_WORDS, Notice
from .._maintenance.core import timestamps
from .._maintenance.report import notices as sentences
from .._maintenance.report.event_lines import hosts_of

# With more events that change at once, a target gets one message for all. So does a VM alone with more, which must not take the messages of others.
MOST_MESSAGES, OF_ONE_VM = 3, 2
# Seconds between two messages of a pass with more events than that, and with more than a person follows.
PAUSES = ((20, 300.0), (MOST_MESSAGES, 60.0))
# After so many times a VM alone is told of only every few minutes in this pass: it may make up an event, and an alarm, in each iteration.
LOUD = 30
# A pass that goes on tries a target again after so many seconds.
AGAIN_SECONDS = 300.0
TITLE = "Azure maintenance"
TYPES = {**dict.fromkeys(("failed", *ALARMS), "failure"), "held": "warning", "recovered": "success"}

Results = Callable[[Sent, float], Mapping[str, tuple[str, str]]]
# The text of a message: of an event, the word, and the default text.
Text = Callable[[Values, str, str], str]


class Notified(TypedDict):
    """What a pass has handed over, and what became of it."""

    sent: list[Sent]
    results: dict[str, list[Any]]
    """For each notice C(sent), C(delivered), C(failed), or C(refused) where the URL of its target cannot be used; why, and since when."""
    handed_at: float
    told_of: dict[str, int]
    """How many times something of each VM was handed over."""
    by_tasks: list[str]
    """The phases for which the tasks of respond_notify_tasks were run."""
    gathers_since: float
    """Since when notices have been waiting for others; 0 without any."""
    closing: bool
    """Whether the last iteration only records what was delivered."""


class NotifyRequest(TypedDict):
    """What a pass is asked to do about notifications."""

    seconds: float
    wrong: str
    """Why nobody can be told of anything; empty if they can."""
    test: bool


def nothing() -> Notified:
    """Return what a pass begins with."""
    return {"sent": [], "results": {}, "handed_at": 0.0, "told_of": {}, "by_tasks": [], "gathers_since": 0.0, "closing": False}


def collect(notified: Notified, results: Results, now: float) -> Notified:
    """Return it with what became of the messages by now. What failed some time ago is left out, so that it is sent again."""
    found = {key: one for key, one in notified["results"].items() if not (one[0] == "failed" and now - one[2] > AGAIN_SECONDS)}
    for sent in notified["sent"]:
        for key, (outcome, reason) in results(sent, now).items():
            if found.get(key, [""])[0] == "sent":
                found[key] = [outcome, reason, now]
    return {**notified, "sent": [sent for sent in notified["sent"] if _waits(sent, found)], "results": found}


def _waits(sent: Sent, results: Mapping[str, Sequence[Any]]) -> bool:
    return any(results.get(key, [""])[0] == "sent" for messages in sent["keys"].values() for keys in messages for key in keys)


def outcomes(notified: Notified) -> dict[str, str]:
    """Return what became of each notice, as the plan takes it."""
    return {**dict.fromkeys(notified["by_tasks"], "taken"), **{key: str(one[0]) for key, one in notified["results"].items()}}


def by_tasks(notified: Notified, actions: Sequence[Values]) -> list[str]:
    """Return the phases for which tasks were run, with those of these actions."""
    return [*notified["by_tasks"], *(Notice(one["host"], one["event_id"], one["phase"], "").key for one in actions if one["action"] == "notify")]


def is_due(plan: Values, notified: Notified, is_end: bool, now: float) -> bool:
    """Return whether its notices are handed over now: many events would otherwise be a message each iteration."""
    found = owed(plan, notified)
    told, passed = {folded(one["event_id"]) for one in found}, now - notified["handed_at"]
    waiting = [one for one in found if notified["told_of"].get(one["host"], 0) < LOUD]
    before = {key.partition("\n")[2] for key in notified["results"]}
    if not waiting:
        return bool(found) and (is_end or passed >= PAUSES[0][1])
    # That something has happened to some VMs of an event, or to one more, is not urgent, but for a failure: the others may follow in a moment.
    if all(one["is_partial"] or (one["word"] not in FAILURES and _key(one).partition("\n")[2] in before) for one in waiting):
        return is_end or bool(notified["gathers_since"] and now - notified["gathers_since"] >= PAUSES[1][1])
    alive = [entry for entry in plan["events"] if entry["phase"] != "recovered" or folded(entry["event_id"]) in told]
    count = Counter(host for entry in alive for host in hosts_of(entry))
    # A VM with many events delays no message about the others.
    calm = [entry for entry in alive if any(count[host] <= OF_ONE_VM for host in hosts_of(entry))]
    is_calm = any(folded(entry["event_id"]) in told for entry in calm) and passed >= _pause(len(calm))
    return is_end or is_calm or passed >= _pause(len(alive)) or any(one["word"] in ALARMS for one in waiting)


def gathering(plan: Values, notified: Notified, now: float) -> Notified:
    """Return it with since when notices have been waiting for others."""
    return {**notified, "gathers_since": (notified["gathers_since"] or now) if owed(plan, notified) else 0.0}


def told_of(plan: Values, notified: Notified) -> dict[str, int]:
    """Return how many times something of each VM was handed over, once all that is owed is."""
    hosts = {one["host"] for one in owed(plan, notified)}
    return {**notified["told_of"], **{host: notified["told_of"].get(host, 0) + 1 for host in hosts}}


def _pause(events: int) -> float:
    return next((seconds for most, seconds in PAUSES if events > most), 0.0)


def owed(plan: Values, notified: Notified) -> list[Values]:
    """Return the notices of a plan that were not handed over yet: a plan stays while leases are released."""
    return [one for one in plan["notices"] if _key(one) not in notified["results"]]


def _key(notice: Values) -> str:
    return Notice(**notice).key


def messages(plan: Values, notified: Notified, text: Text, now: float) -> dict[str, list[tuple[dict[str, str], list[str]]]]:
    """Return the messages for each target, each with what it tells: one for an event, or one for all of many."""
    entries = {folded(entry["event_id"]): entry for entry in plan["events"]}
    of_vm: dict[tuple[str, str, str], list[Values]] = {}
    for one in owed(plan, notified):
        of_vm.setdefault((one["target"], folded(one["event_id"]), one["host"]), []).append(one)
    # VMs of an event for which the same is to be told share a message: else one that says that it has started would hide what is said of the others.
    of_target: dict[str, dict[tuple[str, str], list[Values]]] = {}
    for (target, event, _host), notices in of_vm.items():
        of_target.setdefault(target, {}).setdefault((event, sentences.main([one["word"] for one in notices])), []).extend(notices)
    return {target: _of_target(groups, entries, text, now) for target, groups in of_target.items()}


def _of_target(
    groups: Mapping[tuple[str, str], Sequence[Values]], entries: Mapping[str, Values], text: Text, now: float
) -> list[tuple[dict[str, str], list[str]]]:
    told = [(entries[event], _words(entries[event], notices), list(map(_key, notices))) for (event, _word), notices in groups.items()]
    most = len(told) if len(told) <= MOST_MESSAGES else OF_ONE_VM
    few, many = few_of_each(told, lambda one: {host for hosts in one[1].values() for host in hosts}, most)
    few, many = (few, many) if len(few) <= MOST_MESSAGES else ([], told)
    found = [(_message(_of_event(entry, words, text, now), words), keys) for entry, words, keys in few]
    if many:
        body = sentences.digest([(entry, words) for entry, words, _keys in many], now)
        found.append((_message(body, [word for _entry, words, _keys in many for word in words]), [key for _entry, _words, keys in many for key in keys]))
    return found


def _words(entry: Values, notices: Sequence[Values]) -> dict[str, list[str]]:
    """Return the words that are told of an event, each with its VMs: where it holds for the whole event, with those that were not read, too."""
    told: dict[str, list[str]] = {}
    for one in notices:
        told.setdefault(one["word"], []).append(one["host"])
    unread = [host for host in entry["hosts"] if host in entry["unknown"]]
    return {word: list(dict.fromkeys([*hosts, *(unread if word not in OWN_WORDS else ())])) for word, hosts in told.items()}


def _of_event(entry: Values, words: Mapping[str, Sequence[str]], text: Text, now: float) -> str:
    return text(sentences.about(entry, words), sentences.main(words), sentences.message(entry, words, now))


def _message(text: str, words: Collection[str]) -> dict[str, str]:
    return {"title": TITLE, "text": text, "type": next((kind for word, kind in TYPES.items() if word in words), "info")}


def remarks(notified: Notified) -> list[str]:
    """Return which targets could not be told, and why."""
    return _not_told(notified, "failed", f"the next passes try again, for {timestamps.duration(3600)}")


def wrong_targets(notified: Notified) -> list[str]:
    """Return which targets have a URL that cannot be used, which is a wrong setting, and why."""
    return _not_told(notified, "refused", "correct that, or its URL")


def _not_told(notified: Notified, outcome: str, way_out: str) -> list[str]:
    found: dict[tuple[str, str], set[str]] = {}
    for key, (of_notice, reason, _at) in notified["results"].items():
        event, word, target = key.rpartition("\n")[2].rsplit(" ", 2)
        if of_notice == outcome and word != TEST:
            found.setdefault((target, reason), set()).add(event)
    return [f"notification target {target} was not told of {_events(events)}: {reason}; {way_out}" for (target, reason), events in found.items()]


def _events(events: set[str]) -> str:
    return f"event {next(iter(events))}" if len(events) == 1 else f"{len(events)} events"


OF_EVENT = ("not_before", "reason", "next")
FIELDS = ("text", "phase", "hosts", "event_id", "event_type", *OF_EVENT)


def refuse_misspelt(template: str) -> None:
    """Raise WrongInput for what is almost a field of respond_notify_message. Anything else in braces is text of the operator's."""
    near = [f"{{{name}}}{like}" for name in re.findall(r"\{(\s*\w+\s*)\}", template) if name not in FIELDS and (like := suggestion(name.strip(), FIELDS))]
    if near:
        raise WrongInput(f"respond_notify_message has no field {', '.join(near)}; there are {', '.join(f'{{{name}}}' for name in FIELDS)}")


def filled(template: str, entry: Values, word: str, default: str) -> str:
    """Return the text of a message by respond_notify_message. What an event says is never taken for a field; the default text where there is no template."""
    hosts = list(map(str, entry.get("hosts") or ()))
    about = {"text": default, "phase": word, "hosts": sentences.plain(", ".join(hosts), hosts)}
    about |= {key: sentences.plain(str(entry.get(key) or ""), hosts) for key in OF_EVENT}
    about |= {"event_id": sentences.identifier(str(entry.get("event_id") or "")), "event_type": sentences.kind_of(str(entry.get("event_type") or ""))}
    return re.sub(r"\{(\w+)\}", lambda found: about.get(found[1], found[0]), template) or default


# --- A test (C(respond_notify_test)) -------------------------------------------------------------------------------------


TEST = "test"


def test_messages(targets: Sequence[str], who: str) -> dict[str, list[tuple[dict[str, str], list[str]]]]:
    """Return one message for each target."""
    text = f"Test of notifications by {who}: messages about Azure maintenance arrive here."
    return {target: [(_message(text, ()), [f"{TEST} {TEST} {target}"])] for target in targets}


def test_results(notified: Notified) -> tuple[list[str], list[str]]:
    """Return which targets have got the test message, in a sentence, and which have not."""
    tested = {key.split(" ")[-1]: one for key, one in notified["results"].items() if key.split(" ")[-2] == TEST}
    told = ", ".join(target for target, one in tested.items() if one[0] == "delivered")
    failed = {target: one[1] for target, one in tested.items() if one[0] != "delivered"}
    lost = [f"respond_notify_test: {target} was not told: {reason or 'no answer in time'}" for target, reason in failed.items()]
    return [f"respond_notify_test: the test message was delivered to {told}."] if told else [], lost
