# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The sentences that notification targets get: one line that is understood on a phone for each event, and a digest where many events change at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import printable
from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core.shares import in_turn
from ..._core.short_forms import ending, short_id, some
from ..act.notifications import ALARMS, FAILURES
from ..config.settings import NOTIFIED_PHASES
from ..core import timestamps
from ..core.blocker import WAITING

WORDS = (*ALARMS, *NOTIFIED_PHASES)
SHOWN = 3
# Characters of one sentence: more is not read on a phone. A reason is cut before what to do is.
LONGEST = 320
LONGEST_REASON = 100
# Lines of a digest.
MOST_LINES = 12
IMPACTS = {"Reboot": "rebooted", "Redeploy": "moved to another host", "Freeze": "paused", "Preempt": "evicted (Spot)", "Terminate": "deleted"}
NAMES = {"Reboot": "reboot", "Redeploy": "redeployment", "Freeze": "pause", "Preempt": "eviction", "Terminate": "deletion"}
UNKNOWN = "event of a type unknown here"
# Nothing that an event says becomes a mention, a link, a tag or an entity in a chat. Beside letters and digits of any script these signs stay; what
# stands for another is put in its place before links are looked for, and any other sign is a space, so that nothing grows together.
STAYS = frozenset(" .,:;'(){}/+-_=%!?$")
PLAIN = {**dict(zip('<>[]`"|\\&', "()()''//+")), **dict.fromkeys("@\ufe6b\uff20", "(at)"), **dict.fromkeys("\u2024\u3002\ufe52\uff0e\uff61", "(.)")}
# What a chat or a mail makes a link of: an address with a scheme, or what looks like the name of a site. Names of units and files are none.
SLASHES, SCHEME = re.compile("/(?=/)"), re.compile(r"(?<=mailto):|(?<=\btel):|(?<=\bsms):|(?<=\bsip):", re.IGNORECASE)
SITE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?!(?:conf|json|log|service|sock|socket|timer|yml)\b)[^\W\d_][\w-]+")
HEADINGS = {
    "noticed": "announced",
    "gone": "over",
    "recovered": "over, and all is back in service",
    "given_up": "given up: not drained, no further attempt",
    "held_late": "held near the deadline",
}


def main(words: Collection[str]) -> str:
    """Return the one of these words that a sentence is made of: an alarm, else the last phase."""
    found = [word for word in WORDS if word in words]
    return found[0] if found[0] in ALARMS else found[-1]


def about(entry: Values, words: Mapping[str, Sequence[str]]) -> Data:
    """Return an event with the VMs that its sentence is about, and with their reason: that of another says whose it is. C(words) has the VMs of each word."""
    hosts, reason = words[main(words)] or _vms(entry), entry["reason"]
    failures = [(part["host"], one["detail"]) for part in entry["parts"] for one in part["blockers"] if one["kind"] == "failed"]
    if main(words) in FAILURES:
        reason = next((detail for host, detail in failures if host in hosts), reason)
    others = [host for host, detail in failures if detail == reason]
    return {**entry, "hosts": hosts, "reason": f"{others[0]}: {reason}" if others and not set(others) & set(hosts) else reason}


def message(entry: Values, words: Mapping[str, Sequence[str]], now: float) -> str:
    """Return the sentence for the last of these phases of one event, with the event and the phases at its end."""
    its = about(entry, words)
    named = ", ".join(word for word in WORDS if word in words)
    return f"{plain(_sentence(its, main(words), now), [*entry['hosts'], *its['hosts']])} [event {identifier(short_id(str(entry['event_id'])))}: {named}]"


def digest(changes: Sequence[tuple[Values, Mapping[str, Sequence[str]]]], now: float) -> str:
    """Return one message for many events: for each phase and type how many there are, when the first comes, and some of the VMs."""
    found: dict[tuple[str, str], list[Values]] = {}
    for entry, words in changes:
        for word, hosts in words.items():
            found.setdefault((word, str(entry["event_type"])), []).append({**entry, "hosts": hosts})
    lines: list[tuple[str, list[str]]] = []
    for (word, kind), entries in sorted(found.items(), key=lambda one: (WORDS.index(one[0][0]), -len(one[1]))):
        vms = list(dict.fromkeys(str(vm) for entry in entries for vm in _vms(entry)))
        known = [str(vm) for entry in entries for vm in entry["hosts"]]
        first = min(
            (str(entry["not_before"]) for entry in entries if entry["not_before"] and word in ("noticed", "held", "held_late", "drained")), default=None
        )
        times = f", from {_time(first, now)}" if first else ""
        lines.append((plain(f"{_number(entries)} {_name(kind)} events {HEADINGS.get(word, word)}{times}: {some(vms, SHOWN)}", known), vms))
    counts = Counter(word for word, _kind in found)
    left = [f"and {len(lines) - MOST_LINES} more lines; see playbook status"] if len(lines) > MOST_LINES else []
    kept = [line for line, _vms in in_turn(lines, lambda line: line[1], MOST_LINES)]
    return "\n".join([f"Azure maintenance: {_number(entry for entry, _words in changes)} events changed ({', '.join(counts)})", *kept, *left])


def _number(entries: Iterable[Values]) -> int:
    """Return how many events these are: of one, different things may be told of its VMs."""
    return len({entry["event_id"] for entry in entries})


def _sentence(entry: Values, word: str, now: float) -> str:
    kind, vms, reason = str(entry["event_type"]), _subject(entry), printable(entry["reason"] or "no reason given", LONGEST_REASON)
    be = "is" if len(_vms(entry)) == 1 else "are"
    at = _at(entry["not_before"], now)
    if word == "noticed":
        impact = IMPACTS.get(kind, f"hit by an {UNKNOWN}") + _seconds(entry)
        return f"{vms} will be {impact} by Azure{at}; {_next(entry)}"
    if word == "given_up":
        return f"{vms}: draining for the {_name(kind)}{at} failed for good: {reason}. Next: {entry['next']}"
    if word in ("held", "held_late"):
        soon = f", {timestamps.duration(entry['starts_in'])} from now" if word == "held_late" and entry["starts_in"] is not None else ""
        return f"{vms}: {_name(kind)}{at}{soon} is held: {reason}. Next: {entry['next']}"
    return {
        "failed": f"{vms}: failed for the {_name(kind)}{at}: {reason}. Next: {entry['next']}",
        "drained": f"{vms} {be} out of service for the {_name(kind)}{at}; {_next(entry)}",
        "approved": f"{vms}: the {_name(kind)} is approved, Azure may start it any moment",
        "started": f"{vms}: Azure has started the {_name(kind)}",
        "gone": f"{vms}: the {_name(kind)} is over{_outcome(entry)}; being put back",
        "recovered": f"{vms} {be} back in service, the {_name(kind)} is over",
    }[word]


def _outcome(entry: Values) -> str:
    """Return how the event ended for the first of the VMs, in brackets."""
    parts = [part for part in entry["parts"] if part["host"] in entry["hosts"]]
    return next((f" ({ending(part['times']['outcome'])})" for part in parts if part["times"] and part["times"]["outcome"]), "")


def _next(entry: Values) -> str:
    """Return what is done about it, as far as the plan has decided."""
    then = {"after_drain": "approved when done", "now": "approved at once"}.get(entry["rule"].get("approve"), "not approved by this collection")
    if entry["phase"] == "draining" or any(part["intent"] == "drain" for part in entry["parts"]):
        return f"draining, will be {then}"
    blockers = [one for one in entry["blockers"] if one["kind"] not in WAITING]
    if blockers:
        return f"held: {blockers[0]['detail']}"
    if entry["phase"] in ("drained", "noticed") and entry["approver"]:
        return "being approved"
    return str(entry["next"])


def _subject(entry: Values) -> str:
    return some(_vms(entry), SHOWN) or "no managed VM"


def _vms(entry: Values) -> list[str]:
    return list(entry["hosts"] or entry["resources"])


def _name(kind: str) -> str:
    return NAMES.get(kind, UNKNOWN)


def _seconds(entry: Values) -> str:
    seconds = entry.get("duration_in_seconds")
    return f" for {timestamps.duration(seconds)}" if isinstance(seconds, (int, float)) and seconds > 0 else ""


def _at(value: Any, now: float) -> str:
    return f" at {_time(value, now)}" if timestamps.parse(value) is not None else ""


def _time(value: Any, now: float) -> str:
    """Return a time as people say it: without the date where it is today."""
    moment, today = timestamps.as_datetime(timestamps.parse(value) or now), timestamps.as_datetime(now)
    return f"{moment:%H:%M} UTC" if moment.date() == today.date() else f"{moment:%Y-%m-%d %H:%M} UTC"


def plain(text: str, names: Sequence[str] = ()) -> str:
    """Return a short text of which no chat and no mail makes a mention, a link or a tag. Names of VMs, which may be those of sites, stay."""
    known = set(names)
    signs = "".join(PLAIN.get(sign, sign if sign.isalnum() or sign in STAYS else " ") for sign in printable(text, LONGEST))
    return SITE.sub(lambda site: site[0] if site[0] in known else site[0].replace(".", "(.)"), SCHEME.sub("(:)", SLASHES.sub("/ ", " ".join(signs.split()))))


def identifier(text: str) -> str:
    """Return an id: Azure's are letters, digits and hyphens, which make no link."""
    return re.sub(r"[^A-Za-z0-9-]", " ", printable(text, LONGEST))


def kind_of(text: str) -> str:
    """Return a type of events that is known, or that it is not."""
    return text if text in NAMES else UNKNOWN
