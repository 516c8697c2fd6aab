# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people said about events (playbook decide.yml), and what that means for the plan.

A word is about an event (approve, hold, let_it_come) or about a VM (retire_vm). Of each the newest one counts, from whatever
record it comes, and a release ends both. A newer word ends the older ones for good, also when its own time is over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import instants, plain
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Host, Identity, Word
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.policy import Decision

if TYPE_CHECKING:
    from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.seen import Seen

# What is said at the same moment on different VMs: the first of these counts.
STRICTEST = ("hold", "let_it_come", "release", "approve")


@dataclass(slots=True)
class Said:
    """All that holds now."""

    events: dict[str, Word] = field(default_factory=dict)
    """By the event's id in lower case."""
    retired: dict[str, Word] = field(default_factory=dict)
    """By the VM's name in lower case."""
    speaking: set[str] = field(default_factory=set)
    """Events (lower case) for which any word holds."""
    scopes: dict[str, Identity] = field(default_factory=dict)
    """Where the VM that carries the word about a retired one is."""


# --- Reading -------------------------------------------------------------------------------------------------------------


def read_words(value: Any) -> tuple[Word, ...]:
    """The words in a record, the last one said first."""
    if value is None:
        return ()
    given = plain.mapping(value)
    return tuple(_word(item) for item in (value, *plain.items(given.get("beside"))))


def _word(value: Any) -> Word:
    given = plain.mapping(value)
    action, at, until = plain.text(given.get("action")), instants.parse(given.get("at")), instants.parse(given.get("until"))
    known = action == "release" or (until is not None and (action in STRICTEST or plain.text(given.get("vm")) is not None))
    who = plain.text(given.get("who")) or "somebody"
    if at is None or not known or action is None:
        # Said by a newer version perhaps. Going on as if nobody had said anything would be worse than to wait for a person.
        return Word("hold", who, f"what was said cannot be read: {plain.plain(value)!r}"[:300], float("inf"), float("inf"), None)
    return Word(action, who, plain.text(given.get("why")), at, until, plain.text(given.get("vm")))


def collect(hosts: Iterable[Host], now: float) -> Said:
    """What holds now, by this machine's clock."""
    found: dict[str, list[Word]] = defaultdict(list)
    scopes: dict[str, Identity] = {}
    for host in hosts:
        look = host.look or host.last_look
        for key, record in look.records.items() if look else ():
            if record.said and look:
                found[key].extend(record.said)
                scopes.update((word.vm.lower(), look.identity) for word in record.said if word.vm)
    said = Said(scopes=scopes)
    for key, words in found.items():
        newest = about_event(words)
        if newest and newest.action != "release" and newest.holds(now):
            said.events[key] = newest
            said.speaking.add(key)
        for word in about_vms(words):
            name = (word.vm or "").lower()
            if not word.holds(now):
                continue
            said.speaking.add(key)
            if name not in said.retired or (said.retired[name].until or 0.0) < (word.until or 0.0):
                said.retired[name] = word
    return said


def about_event(words: Iterable[Word]) -> Word | None:
    """The one word about the event that counts, or counted until its time was over."""
    found = [word for word in words if word.action != "retire_vm"]
    return min(found, key=lambda word: (-word.at, STRICTEST.index(word.action)), default=None)


def about_vms(words: Iterable[Word]) -> list[Word]:
    """For each VM the last word that retired it, unless a release came later."""
    words = list(words)
    released = max((word.at for word in words if word.action == "release"), default=float("-inf"))
    newest: dict[str, Word] = {}
    for word in sorted(words, key=lambda one: one.at):
        if word.action == "retire_vm" and word.vm and word.at > released:
            newest[word.vm.lower()] = word
    return list(newest.values())


# --- Meaning -------------------------------------------------------------------------------------------------------------


def retire(hosts: Iterable[Host], said: Said) -> list[Host]:
    """Retired VMs are not read, whatever they answer. One that is no host of this play is known by its name all the same."""
    if not said.retired:
        return list(hosts)
    found: list[Host] = []
    known = set()
    for host in hosts:
        if host.name.lower() in said.retired:
            known.add(host.name.lower())
            host = replace(host, state="retired", error=None, look=None, last_look=None, reached_before=False)
        found.append(host)
    for name, word in said.retired.items():
        if name not in known:
            scope = said.scopes.get(name, Identity())
            identity = Identity(name=name, group=scope.group, subscription=scope.subscription)
            found.append(Host(word.vm or name, len(found), "retired", None, None, (), identity))
    return found


def worth_a_case(events: Iterable[Seen], said: Said) -> list[Seen]:
    """Not what is over, once all that people said about it is over too."""
    return [seen for seen in events if not seen.only_spoken_of or seen.key in said.speaking]


def effective(decision: Decision, word: Word | None) -> Decision:
    """What the policy said, or what a person said instead. Records keep what the policy said."""
    if word is None or word.action != "approve":
        return decision
    return replace(decision, name=word.words, drain=False, approve="now", drain_at=None, window=(), problem=None)


def says_approve(word: Word | None) -> bool:
    """Whether nothing but a failed observation may hold the approval."""
    return word is not None and word.action == "approve"


def blocker(word: Word | None) -> str | None:
    """Why nothing is approved, for those words that say so."""
    return word.words if word is not None and word.action in ("hold", "let_it_come") else None


def keeps_from_draining(word: Word | None, *, must_drain: bool) -> bool:
    """Whether no drain begins: held until its deadline, or let come as it is."""
    return word is not None and (word.action == "let_it_come" or (word.action == "hold" and not must_drain))


def shown(word: Word | None) -> dict[str, Any] | None:
    """As the plan returns it."""
    if word is None:
        return None
    found: dict[str, Any] = {"action": word.action, "who": word.who, "why": word.why, "vm": word.vm, "words": word.words}
    return {**found, "at": instants.form(word.at), "until": None if word.until is None else instants.form(word.until)}


def retired(said: Said) -> list[str]:
    """For the summary: everybody who is retired, with who said so and until when."""
    return [word.words for word in said.retired.values()]
