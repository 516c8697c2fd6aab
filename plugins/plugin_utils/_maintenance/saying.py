# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person says now (playbook decide.yml): checked, and which record of which VM it is written to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_decision import (
    ACTIONS,
    LONGEST_TEXT,
    NEEDS_WHY,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import deciding, instants, plain
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import settings as settings_module
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Event, Host, Word
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.reading import read_observations
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.seen import Seen, collect, merge
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.who import Directory, Named

OPTIONS = ("event_id", "action", "who", "why", "until", "hours", "vm")
DEFAULT_HOURS = 24.0
SHOWN_EVENTS = 20


class SayingError(ValueError):
    """What was said cannot be recorded; the message says what to say instead."""


@dataclass(frozen=True)
class Saying:
    """What a person says, before it is known which VMs it is about."""

    event_id: str
    word: Word
    ends: float | None
    """The end that was asked for; nothing where none was."""
    lasts: float | None
    """The seconds that were asked for."""


# --- What is said --------------------------------------------------------------------------------------------------------


def load(given: Any, now: float) -> Saying:
    """Check it before any VM is asked."""
    source = {key: plain.text(value) for key, value in plain.mapping(given).items()}
    unknown = sorted(str(key) for key in source if key not in OPTIONS)
    if unknown:
        raise SayingError(f"there is no decide_{unknown[0]}; there are {', '.join('decide_' + key for key in OPTIONS)}")
    texts = {key: (source.get(key) or "").strip() for key in OPTIONS}
    event_id, action, who, why = texts["event_id"], texts["action"], texts["who"], texts["why"]
    if not event_id:
        raise SayingError("decide_event_id is missing: the id of the event, as maintenance.azure.status shows it")
    if action not in ACTIONS:
        raise SayingError(f"decide_action is {action!r}; it must be one of {', '.join(ACTIONS)}")
    if not who:
        raise SayingError("nobody knows who says it: give decide_who")
    if action in NEEDS_WHY and not why:
        raise SayingError(f"decide_why is missing: {action} needs a reason for those who look at it later")
    if (action == "retire_vm") != bool(texts["vm"]):
        raise SayingError("decide_vm is missing: which VM will not come back" if not texts["vm"] else f"decide_vm is for retire_vm only, not for {action}")
    long = [key for key in ("who", "why", "vm") if len(texts[key]) > LONGEST_TEXT]
    if long:
        raise SayingError(f"decide_{long[0]} has more than {LONGEST_TEXT} characters")
    ends, lasts = _ends(texts["until"], now), _lasts(texts["hours"], bool(texts["until"]))
    until = ends if ends is not None else now + (DEFAULT_HOURS * 3600 if lasts is None else lasts)
    word = Word(action, who, why or None, now, None if action == "release" else until, texts["vm"] or None)
    return Saying(event_id, word, ends, lasts)


def _ends(given: str, now: float) -> float | None:
    if not given:
        return None
    moment = instants.parse(given)
    if moment is None:
        raise SayingError(f"decide_until must be a time such as 2026-11-23T08:00:00Z (UTC where it names no zone), not {given!r}")
    if moment <= now:
        raise SayingError(f"decide_until is {given}, which is over: it is {instants.form(now)} here")
    return moment


def _lasts(given: str, until: bool) -> float | None:
    if not given:
        return None
    hours = plain.number(given)
    if hours is None or not 0 < hours <= 24 * 366:
        raise SayingError(f"decide_hours must be a number of hours, more than 0 and at most a year, not {given!r}")
    if until:
        raise SayingError("give decide_until or decide_hours, not both")
    return hours * 3600


# --- Where it is written -------------------------------------------------------------------------------------------------


def say(observations: Any, given: Any, settings: Any = None, now: Any = None) -> dict[str, Any]:
    """The writes: for each VM that carries the word its record's changes. Nothing where it stands there already."""
    moment = instants.parse(now)
    if moment is None:
        raise SayingError(f"now must be a time such as 2026-11-21T20:00:00Z, not {now!r}")
    saying = load(given, moment)
    hosts = read_observations(observations, moment)
    seen = _find(saying.event_id, collect(hosts))
    event = merge(seen)
    named = Directory(hosts).resolve(event.resources, seen.scopes)
    if saying.word.vm:
        saying = replace(saying, word=replace(saying.word, vm=_which(saying.word.vm, event, named, hosts)))
    words = _together(saying, seen, moment)
    carriers = _carriers(saying, seen, named, hosts, settings_module.load(settings))
    own = {host.name for host in named.hosts}
    return {
        "event_id": event.event_id,
        "words": words[0].words,
        "writes": [write for host in carriers if (write := _write(host, seen, event, words, host.name in own))],
    }


def _find(event_id: str, events: Iterable[Seen]) -> Seen:
    known = list(events)
    found = next((seen for seen in known if seen.key == event_id.lower()), None)
    if found is not None:
        return found
    shown = [f"{one.event_id} ({one.event_type} of {', '.join(one.resources) or 'nobody'})" for one in map(merge, known[:SHOWN_EVENTS])]
    more = f" and {len(known) - SHOWN_EVENTS} more" if len(known) > SHOWN_EVENTS else ""
    raise SayingError(f"no VM lists event {event_id} or has a record of it; known are: {'; '.join(shown) or 'none'}{more}")


def _which(name: str, event: Event, named: Named, hosts: Iterable[Host]) -> str:
    """The inventory's name of a VM; that of Azure where no host has it."""
    wanted = name.lower()
    for host in hosts:
        if host.name.lower() == wanted:
            return host.name
    for host in named.hosts:
        if host.identity.name == wanted:
            return host.name
    for resource in event.resources:
        if resource.strip().lower() == wanted:
            return resource.strip()
    raise SayingError(f"decide_vm is {name}, which is no host of the inventory, and event {event.event_id} names {', '.join(event.resources) or 'nobody'}")


def _together(saying: Saying, seen: Seen, now: float) -> list[Word]:
    """The new word and those that hold beside it, the new one first. Said again it is the old one, with its times."""
    records = [record for host in seen.remembered_by if (look := host.look or host.last_look) and (record := look.records.get(seen.key))]
    every = [word for record in records for word in record.said]
    event_word, vm_words = deciding.about_event(every), [word for word in deciding.about_vms(every) if word.holds(now)]
    new = saying.word
    if new.action == "release":
        # What was said on VMs that do not answer now has to be ended too, so a first release is always written.
        return [event_word if event_word and event_word.action == "release" and _same(event_word, saying) and not vm_words else new]
    beside = [event_word] if event_word and event_word.action != "release" and event_word.holds(now) else []
    if new.action == "retire_vm":
        old = next((word for word in vm_words if word.vm and new.vm and word.vm.lower() == new.vm.lower()), None)
        others = [word for word in vm_words if word is not old] + beside
    else:
        old, others = next(iter(beside), None), vm_words
    # A release that ended older words on VMs which are silent now must not be forgotten.
    released = [word for word in every if word.action == "release"]
    return [old if old and _same(old, saying) else new, *others, *sorted(released, key=lambda word: -word.at)[:1]]


def _same(old: Word, saying: Saying) -> bool:
    """Whether it would only be said once more. Another end that was asked for is another word."""
    new = saying.word
    if (old.action, old.who, old.why) != (new.action, new.who, new.why):
        return False
    if old.until is None or (saying.ends is None and saying.lasts is None):
        return True
    wanted = saying.ends if saying.ends is not None else old.at + (saying.lasts or 0.0)
    return abs(old.until - wanted) < 1.0


def _carriers(saying: Saying, seen: Seen, named: Named, hosts: list[Host], settings: Settings) -> list[Host]:
    """All VMs of the event that answer, and whoever carries a word about it already; else whoever can."""
    retired = (saying.word.vm or "").lower()
    names = {host.name for host in named.hosts}
    own = [host for host in hosts if host.look and (host.name in names or seen.key in host.look.records)]
    if any(host.name.lower() != retired for host in own):
        return own
    groups = [group.members for group in settings.capacity if not names.isdisjoint(group.members)]
    taken = {retired, *(host.name.lower() for host in own)}
    others = [host for host in hosts if host.ok and host.name.lower() not in taken]
    beside = [host for host in others if any(host.name in members for members in groups)]
    listing = [host for host in seen.listed_by if host.name.lower() not in taken]
    found = own + (beside or listing or others)[:1]
    if not found:
        raise SayingError("no VM answers, so it can be written nowhere; try again when one does")
    return found


def _write(host: Host, seen: Seen, event: Event, words: list[Word], is_named: bool) -> dict[str, Any] | None:
    record = host.look.records.get(seen.key) if host.look else None
    if record is not None and list(record.said) == words:
        return None
    first, *others = [_as_dict(word) for word in words]
    changes: dict[str, Any] = {"decision": {**first, "beside": others}}
    step: dict[str, Any] = {"host": host.name, "event_id": record.event.event_id if record else event.event_id, "changes": changes, "event": None}
    if record is not None:
        return step
    step["event"] = event.for_record()
    if not is_named or not (host.look and seen.key in host.look.listed):
        # C(noticed) says that the VM's own document had it and that it is hit; this record only carries the word.
        changes.update(phase="held", reason=words[0].words)
        step["expected_revision"] = 0
    return step


def _as_dict(word: Word) -> dict[str, Any]:
    found: Mapping[str, Any] = {"action": word.action, "who": word.who, "why": word.why, "vm": word.vm}
    return {**found, "at": instants.form(word.at), "until": None if word.until is None else instants.form(word.until)}
