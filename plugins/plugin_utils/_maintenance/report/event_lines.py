# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lines about events: one for each, or an overview of many."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, shortened
from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core.shares import few_of_each, in_turn
from ..._core.short_forms import ending, some
from ..core.blocker import WAITING
from ..core.timestamps import duration
from ..decide.approval_blockers import ANYWAY

SHOWN_HOSTS = 6
# More events than that are an overview, which shows so many of them, and so many reasons.
MANY, NEXT, NEXT_OF_ONE_VM, REASONS = 20, 10, 4, 10
# Events of one VM that have a line each, and phases or types that are counted by name.
OF_ONE_VM, COUNTED = 10, 8
# Characters of a reason in an overview.
LONGEST_REASON = 300
# Ansible's own output puts up to eleven characters around a line.
WIDTH = 148
NEED_A_PERSON = ("failed", "held")
COMMAND = re.compile(r"\b(az|chmod|chown|curl|pip|rm|systemctl) ")
# Where the names of VMs stand in a reason that several events share.
NAMES = "\0"


def event_line(event: Values) -> str:
    """Return one line: number, selector, type, source, VMs, time, phase, and what happens next or why it is held."""
    others = [f"{name} (by its record)" for name in hosts_of(event)[len(event["hosts"]) :]]
    others += [*[f"{name} (retired)" for name in event["retired"]], *[f"{name} (not managed)" for name in event["unmanaged"]]]
    names = some([*event["hosts"], *others] or event["resources"], SHOWN_HOSTS)
    start = f"{event['number']}. {event['select']}: {event['event_type'] or 'unknown type'} {event['event_id']}"
    # A started event is in phase started, too.
    state = "; ".join(dict.fromkeys([_when(event), event["phase"]]))
    line = f"{start} {_source(event)}: {names or 'no VM'}; {state}"
    if watched := [part["host"] for part in event["parts"] if part["watcher"]]:
        line += f" (begun by the watcher of {some(watched, SHOWN_HOSTS)} itself)"
    if event["outcome"]:
        line += f" ({ending(event['outcome'])})"
    if event["phase"] in ("held", "failed", "foreign") and event["reason"]:
        line += f": {event['reason']}"
    elif event["reason"] and not _says_next(event):
        line += f", {event['reason']}"
    return f"{(line + _override_note(event)).rstrip('.')}. Next: {event['next']}."


def listed(events: Sequence[Values]) -> list[str]:
    """Return a line for each event, few of them for each VM."""
    kept, left = few_of_each(events, hosts_of, OF_ONE_VM)
    names = some(list(dict.fromkeys(host for event in left for host in hosts_of(event))), SHOWN_HOSTS) or "VMs that are not managed"
    more = f"{len(left)} more events of {names}: -e status_event_id=ID of playbook status explains one."
    return [*map(event_line, kept), *([more] if left else [])]


def hosts_of(event: Values) -> list[str]:
    """Return the managed VMs of an event, by its names or by their own records. What else it names is its VM's to choose."""
    return list(dict.fromkeys([*event["hosts"], *(part["host"] for part in event["parts"])]))


def _source(event: Values) -> str:
    return {"User": "by user", "Platform": "by Azure"}.get(str(event["event_source"]), "source unknown")


def _says_next(event: Values) -> bool:
    """Return whether the reason is what comes next: an approval that only waits."""
    told = event["blockers"][0] if event["blockers"] else None
    return told is not None and told["kind"] in WAITING and told["way_out"] == event["next"]


def _override_note(event: Values) -> str:
    """Return the operator's override, unless it is the reason already."""
    decision, blockers = event["decision"], event["blockers"]
    return f", {decision['text']}" if decision and not (blockers and blockers[0]["kind"] == "override") else ""


def _when(event: Values) -> str:
    if not event["listed"]:
        # A VM that could not be read may still list it.
        return "not known whether it is still listed" if event.get("unknown") else "no longer listed"
    if str(event["event_status"]).lower() == "started":
        return "started"
    left = event["starts_in"]
    if left is None:
        return "no start time given"
    return f"starts in {duration(left)}" if left > 0 else "starts now"


# --- Many events ---------------------------------------------------------------------------------------------------------


def overview(events: Sequence[Values], all_events: bool = False) -> list[str]:
    """Return counts, each reason that events share once, and the next events by time, or all of them with C(all_events)."""
    shared = _shared_reasons(events)
    by_time = sorted(events, key=_time)
    lines = [f"{len(events)} events: {_counts(events, lambda event: event['phase'])}; {_counts(events, lambda event: event['event_type'] or 'unknown type')}."]
    ranked = sorted(shared.items(), key=_rank)
    found = ranked if all_events else in_turn(ranked, lambda item: {host for event in item[1] for host in hosts_of(event)}, REASONS)
    lines += [_reason_line(phase, reason, alike) for (phase, reason), alike in found]
    lines += [f"{len(ranked) - len(found)} more reasons that events share."] if len(ranked) > len(found) else []
    # Of what is over nothing comes next.
    told = by_time if all_events else few_of_each([one for one in by_time if one["phase"] != "recovered"], hosts_of, NEXT_OF_ONE_VM)[0][:NEXT]
    if told:
        lines.append("All by time:" if all_events else f"The next {len(told)} by time:")
    lines += [_short_line(event, _key(event) in shared) for event in told]
    if len(told) < len(events):
        lines.append(
            f"{len(events) - len(told)} more events: playbook status shows all with -e status_all_events=true, and explains one with -e status_event_id=ID."
        )
    return lines


def wrapped(lines: Iterable[str]) -> list[str]:
    """Return lines that fit a terminal: a longer one continues below itself. Names are not broken, nor lines with a command to paste."""
    options: Data = {"width": WIDTH, "subsequent_indent": "    ", "break_long_words": False, "break_on_hyphens": False}
    return [part for line in lines for part in ([line] if COMMAND.search(line) else textwrap.wrap(line, **options))]


def _counts(events: Sequence[Values], value: Callable[[Values], str]) -> str:
    hosts: dict[str, set[str]] = {}
    for event in events:
        hosts.setdefault(value(event), set()).update(hosts_of(event))
    counted = Counter(map(value, events))
    kept = in_turn(counted.most_common(), lambda item: hosts[item[0]], COUNTED)
    more = sum(counted.values()) - sum(number for _value, number in kept)
    return ", ".join(f"{number} {value}" for value, number in [*kept, *([(more, "of other kinds")] if more else [])])


def _time(event: Values) -> tuple[int, float]:
    """Return what sorts events: first those that are to start, then those that have started, and what is no longer listed at the end."""
    started = str(event["event_status"]).lower() == "started"
    left = event["starts_in"]
    return (3 if not event["listed"] else 2 if started else 1 if left is None else 0), left or 0.0


def _key(event: Values) -> tuple[str, str]:
    """Return the phase of an event and its reason, without the names of VMs in it and without a command for this event alone."""
    reason = (event["reason"] or "").partition(ANYWAY)[0].rstrip(".")
    names = ", ".join(_subjects(event))
    return event["phase"], re.sub(rf"(?<![\w.-]){re.escape(names)}(?![\w.-])", NAMES, reason, count=1) if names else reason


def _subjects(event: Values) -> list[str]:
    """Return the VMs that the reason of an event may name."""
    return list(next((one["subjects"] for one in event["blockers"] if one["detail"] == event["reason"]), event["hosts"]))


def _shared_reasons(events: Iterable[Values]) -> dict[tuple[str, str], list[Values]]:
    """Return the events of each reason that more than one of them has."""
    found: dict[tuple[str, str], list[Values]] = {}
    for event in events:
        if event["reason"]:
            found.setdefault(_key(event), []).append(event)
    return {key: alike for key, alike in found.items() if len(alike) > 1}


def _rank(item: tuple[tuple[str, str], list[Values]]) -> tuple[bool, int]:
    """Return what sorts reasons: first those for which a person may be needed, and of them what most events share."""
    (phase, _reason), events = item
    return phase not in NEED_A_PERSON, -len(events)


def _reason_line(phase: str, reason: str, events: Sequence[Values]) -> str:
    """Return one line about a reason, with the VMs that it is about."""
    named = NAMES in reason
    names = list(dict.fromkeys(name for event in events for name in (_subjects(event) if named else event["hosts"] or event["resources"])))
    some_names = some(names, SHOWN_HOSTS) or "no VM"
    start = f"{len(events)} events {phase}" if named else f"{len(events)} events {phase}, of {some_names}"
    return f"{start}: {shortened(reason.replace(NAMES, some_names), LONGEST_REASON)}."


def _short_line(event: Values, is_shared: bool) -> str:
    """Return what a person needs to see what comes, with the reason where no other event has it."""
    names = some(hosts_of(event) or event["resources"], SHOWN_HOSTS) or "no VM"
    state = "; ".join(dict.fromkeys([_when(event), event["phase"]]))
    reason = "" if is_shared or not event["reason"] or _says_next(event) else f": {shortened(event['reason'].partition(ANYWAY)[0], LONGEST_REASON)}"
    line = f"{event['number']}. {event['select']}: {event['event_type'] or 'unknown type'} {_source(event)}: {names}; {state}{reason}{_override_note(event)}"
    return f"{line.rstrip('.')}. Next: {shortened(event['next'], LONGEST_NAME)}."
