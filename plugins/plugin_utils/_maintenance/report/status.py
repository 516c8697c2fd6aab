# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Format a plan for operators. Idle hosts add no lines."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable, printable_line, shortened
from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.journal.record_store import DEFAULT_PATH
from ..._core import plain_values
from ..._core.shares import few_of_each, in_turn
from ..._core.short_forms import grouped, some
from ..._core.wrong_input import WrongInput
from ..._drain.kinds import findings
from ..._drain.kinds.registry import kind_of
from ..._drain.settings.configured import read_configured
from ..core import timestamps
from ..decide import unread
from . import event_choice, event_lines, watchers
from .event_lines import SHOWN_HOSTS, event_line
from .printable_plan import shown
from .times import vm_table

FORMATS = ("text", "json")
# Events whose table a pass ends with.
MOST_TABLES = 20
# Lines about one VM of a kind, as what would be done on it: it may list a thousand events.
MOST_OF_ONE_VM = 10
# Characters of a failure in a line that others follow.
LONGEST_FAILURE = 600
ENDED_SECONDS = 3600.0
WINDOWS_FOLDER = r"%ProgramData%\azure-maintenance"
BACKSLASH = "\\"
SHOWN = ("paused", "events", "summary", "capacity", "leases", "failed")
DATA = ("paused", "events", "actions", "summary", "capacity", "leases", "failed", "requeue", "done")


def status(plan: Any, form: str = "text", event_id: str | None = None, exact: bool = False, folders: Any = None, all_events: bool | None = None) -> Any:
    """Return lines of text, or plain data with C(form=json); explain one event with C(event_id), its whole id with C(exact). Raise WrongInput.

    C(folders) has the folder of records of each host, where it is not the default. Many events are an overview with C(all_events), whether with all of them.
    """
    if form not in FORMATS:
        raise WrongInput(f"format must be one of {', '.join(FORMATS)}, not {form!r}")
    if not isinstance(plan, Mapping) or "events" not in plan:
        raise WrongInput("what is shown must be the result of maintenance.azure.plan")
    numbered = _numbered(plan["events"])
    if event_id:
        chosen = _chosen(event_id, numbered, exact)
        actions = shown([action for action in plan["actions"] if folded(action.get("event_id") or "") == chosen])
        events = shown([event for event in numbered if folded(event["event_id"]) == chosen])
        if form == "json":
            return {"paused": shown(plan["paused"]), "events": events, "actions": actions}
        if not events:
            return [f"No VM lists event {shown(event_id, 'event_id')} or has a record of it."]
        lines = paused_lines(shown(plan["paused"])) + explain(events[0], actions, plain_values.mapping(folders))
        return [printable_line(line) for line in lines] + tables(events)
    if form == "text":
        # Events that ended long ago tell nothing new; status_event_id still shows them.
        numbered = [event for event in numbered if (event.get("ended_ago") or 0.0) <= ENDED_SECONDS]
    found = {key: shown(numbered if key == "events" else plan[key]) for key in (SHOWN if form == "text" else DATA)}
    if form == "json":
        return found
    is_many = all_events is not None and len(numbered) > event_lines.MANY
    lines = event_lines.overview(found["events"], all_events is True) if is_many else event_lines.listed(found["events"])
    lines += capacity_lines(found["capacity"], found["failed"]) + lease_lines(found["leases"])
    found["summary"]["events"] = len(numbered)
    summary = summary_lines(found["summary"])
    # That no VM could be read is the headline.
    lines = summary + lines if found["summary"]["none_read"] else lines + summary
    # While the fleet is paused, all that follows is to be read with that.
    lines = paused_lines(found["paused"]) + lines
    # Each text in them is printable already; an event that names thousands of VMs is still one line.
    lines = [printable_line(line) for line in lines + failed_lines(found["failed"])]
    over = ended(plan, numbered)
    more = len(plain_values.items(plan.get("ended"))) - len(over)
    left = [f"{more} more event{' is' if more == 1 else 's are'} over: playbook maintenance.azure.report has their times."] if more > 0 else []
    return (event_lines.wrapped(lines) if is_many else lines) + tables(over) + left


def ended(plan: Values, events: list[Data]) -> list[Data]:
    """Return the events that have ended in the pass of this plan, the latest few."""
    ids = frozenset(map(folded, plan_ids)) if isinstance(plan_ids := plan.get("ended"), list) else frozenset()
    return in_turn([event for event in events if folded(event["event_id"]) in ids], event_lines.hosts_of, MOST_TABLES)


def tables(events: list[Data]) -> list[str]:
    """Return for each event when what happened to each of its VMs: one table, whose lines are printable."""
    found = [(event, [(part["host"], part["times"]) for part in event["parts"] if part.get("times")]) for event in events]
    return [line for event, rows in found if rows for line in vm_table(event, rows)]


def would_lines(plan: Values, few: bool = False) -> list[str]:
    """Return what a run in check mode would do: one line for each action, and few for each VM; with C(few) one for many actions that are alike."""
    found: list[str] = []
    count: Counter[str] = Counter()
    actions = shown(plan["actions"])
    if few and len(actions) > event_lines.MANY:
        alike = [(action["host"], [f"Would {action['action']}: {_because(action)}".rstrip(": ")]) for action in actions]
        return event_lines.wrapped(printable_line(line) for line in grouped(alike, SHOWN_HOSTS))
    for action in actions:
        count[action["host"]] += 1
        if count[action["host"]] > MOST_OF_ONE_VM:
            continue
        event = f" for event {action['event_id']}" if action.get("event_id") else ""
        because = f": {action['reason']}" if action.get("reason") else ""
        found.append(printable_line(f"{action['host']}: Would {action['action']}{event}{because}"))
    return found + [printable_line(f"{host}: {number - MOST_OF_ONE_VM} actions more") for host, number in count.items() if number > MOST_OF_ONE_VM]


def _because(action: Values) -> str:
    """Return the reason of an action without the id of its event."""
    reason, event_id = str(action.get("reason") or ""), str(action.get("event_id") or "")
    return " ".join((reason.replace(event_id, "") if event_id else reason).split())


def paused_lines(paused: Values | None) -> list[str]:
    """Return the line that says that the fleet is paused, or none."""
    return [paused["line"]] if paused else []


def _numbered(events: Any) -> list[Data]:
    """Return the events, each with its number in this list and the shortest input that selects it."""
    short = event_choice.handles(event["event_id"] for event in events)
    numbered = enumerate(plain_values.plain(events), start=1)
    return [{"number": number, "select": short[folded(event["event_id"])], **event} for number, event in numbered]


def _chosen(event_id: str, events: list[Data], exact: bool) -> str | None:
    if exact:
        return folded(event_id)
    known = {}
    for event in events:
        names = some(event["resources"], SHOWN_HOSTS) or "no VM"
        known[folded(event["event_id"])] = f"{event['event_id']} ({event['event_type']} of {names})"
    found = event_choice.select(event_id, known)
    if found is None:
        raise WrongInput(f"{event_choice.unknown(event_id, known)}. What ended more than a day ago is told by playbook maintenance.azure.report")
    return found


def summary_lines(summary: Values) -> list[str]:
    """Return how complete the observations are."""
    answered = summary["answered"]
    asked = answered + len(summary["unreachable"]) + len(summary["failed"])
    events = summary["events"]
    # Without any answer nothing is known about events: never "no events".
    found = f"{answered} of {asked} VMs answered; {events or 'no'} event{'' if events == 1 else 's'}"
    # One cause for all of them stands in the first line already.
    causes = [] if summary["none_read"] and len(summary["unread"]) == 1 else unread.lines(summary["unread"])
    lines = [f"{summary['none_read'] or found}.", *causes]
    sentences = (
        ("excluded", "Left alone (respond_exclude): {}."),
        ("retired", "Retired (respond_retired), so nothing waits for them: {}."),
        ("enabling", "Scheduled Events were enabled just now on {}: ask again in 5 minutes, an empty list proves nothing before."),
        ("spot", "Spot without a watcher: {}. An eviction gives 30 seconds, for which no schedule is fast enough. Next: install one (playbook watch)."),
        ("lost", "Out of service without a record that says why: {}."),
        ("clocks", "Clock differs from this machine's by more than a minute: {}."),
    )
    lines += [template.format(some(summary[key], SHOWN_HOSTS)) for key, template in sentences if summary.get(key)]
    lines += watchers.lines(summary["watchers"]) if summary.get("watchers") else []
    lines += summary.get("hints", [])
    lines += summary.get("misspelt", [])
    lines += [f"Wrong settings on {line}" for line in summary.get("wrong_settings", [])]
    return lines + [f"Problem on {problem.rstrip('.')}." for problem in summary.get("problems", [])]


def capacity_lines(groups: list[Values], failed: Iterable[Values] = ()) -> list[str]:
    """Return one line for each capacity group that has unavailable VMs or that blocks all, as it may in a part of an inventory.

    What its health checks say is not among them where it fails the run: that has a line of its own.
    """
    held = [f"C{group['held'][1:]}." for group in groups if group.get("held")]
    told = " ".join(item["reason"] for item in failed)
    held += [f"{text}." for key in ("doubted", "holds_nothing") for text in dict.fromkeys(group.get(key) for group in groups) if text and text not in told]
    return held + [
        f"{_title(group)}: {len(group['out'])} of {len(group['members'])} unavailable{_limit(group)}:"
        f" {some([f'{name} ({why})' for name, why in group['out'].items()], SHOWN_HOSTS)}."
        for group in groups
        if group["out"]
    ]


def _title(group: Values) -> str:
    return f"VMs that are drained alike ({group['alike']})" if group.get("alike") else f"Capacity group {group['name']!r}"


def alike_lines(plan: Values) -> list[str]:
    """Return the groups of VMs that are drained alike, each with its limit, and what names a better one: the largest, in few lines."""
    groups = sorted((one for one in shown(plan["capacity"]) if one.get("alike")), key=lambda one: -len(one["members"]))
    lines = [
        f"{some(one['members'], SHOWN_HOSTS)} are drained alike ({one['alike']}): at most {one['max_unavailable']} of {len(one['members'])} out at once."
        for one in groups[:MOST_OF_ONE_VM]
    ]
    if len(groups) > len(lines):
        lines.append(f"{len(groups) - len(lines)} more groups of VMs that are drained alike: status_format=json has them under capacity.")
    better = ["For another limit, name these VMs in a group of respond_capacity; respond_capacity_alike: false ends these groups."]
    return [printable_line(line) for line in lines + better] if groups else []


def lease_lines(leases: list[Values]) -> list[str]:
    """Return which other runs are active, and where."""
    found: dict[tuple[Any, ...], list[Values]] = {}
    for lease in leases:
        if not lease["ours"]:
            found.setdefault((lease["run"], lease["who"], lease["event_id"], lease["kind"], lease["expired"]), []).append(lease)
    kept, left = few_of_each(list(found.values()), lambda of_run: {lease["host"] for lease in of_run}, MOST_OF_ONE_VM)
    return [_lease_line(of_run) for of_run in kept] + ([f"At work: {len(left)} more runs."] if left else [])


def _lease_line(leases: list[Values]) -> str:
    """Return one line about the leases of one run for one event: who, what, where, since when, until when, and what ends a dead run."""
    first, hosts = leases[0], some([lease["host"] for lease in leases], SHOWN_HOSTS)
    what = "an upgrade" if first["kind"] == "upgrade" else f"event {first['event_id'] or 'not known'}"
    begun = [lease["made_at"] for lease in leases if lease["made_at"] is not None]
    since = f", since {timestamps.clock_time(min(begun))}" if begun else ""
    who = f" of {first['who']}" if first["who"] else ""
    line = f"At work: run {first['run']}{who} for {what} on {hosts}{since}"
    if first["expired"]:
        return f"{line}; its time limit has passed, so the next run takes over."
    limits = [lease["limit"] for lease in leases if lease["limit"] is not None]
    return f"{line}. If it is dead, the next run takes over at {timestamps.clock_time(max(limits))}." if limits else f"{line}."


def _limit(group: Values) -> str:
    limit = "" if group["max_unavailable"] is None else f", limit {group['max_unavailable']}"
    return limit + (f", keep {' and '.join(group['keep'])}" if group["keep"] else "")


def failed_lines(failed: list[Values]) -> list[str]:
    """Return the failures that fail the run, few of them for each VM, and one line for all that have the same reason."""
    failed, left = few_of_each(failed, lambda item: [item["host"]], MOST_OF_ONE_VM)
    more = [f"FAILED: {len(left)} more of {some(list(dict.fromkeys(item['host'] for item in left)), SHOWN_HOSTS)}."] if left else []
    alike: dict[str, list[Values]] = {}
    for item in failed:
        alike.setdefault(_failure(item).removeprefix(f"{item['host']}: "), []).append(item)
    return more + [_failed_line(items) for items in alike.values()]


def _failed_line(items: list[Values]) -> str:
    """Return one line about failures that have the same reason."""
    reason, event_id, host = _failure(items[0]), items[0]["event_id"], items[0]["host"]
    if len(items) == 1:
        return f"{f'FAILED {event_id}' if event_id else 'FAILED'}: {reason}."
    return f"FAILED: {some(list(dict.fromkeys(item['host'] for item in items)), SHOWN_HOSTS)}: {reason.removeprefix(f'{host}: ')}."


def _failure(item: Values) -> str:
    return shortened(item["reason"], LONGEST_FAILURE).rstrip(".")


def explain(event: Values, actions: list[Values], folders: Values) -> list[str]:
    """Explain one event: the rule, what it waits for, what was changed and would be undone, and how to undo it by hand."""
    rule = event["rule"]
    lines = [
        event_line(event),
        f"Description: {(event['description'] or 'none').rstrip('.')}. Names: {', '.join(event['resources']) or 'no VM'}.",
        f"Rule {rule['name']!r}: {'drains' if rule['drain'] else 'does not drain'}, approves {str(rule['approve']).replace('_', ' ')}.",
    ]
    if window := event["window"]:
        data = f" Time zone data: {window['zone_data']}." if window["zone_data"] else ""
        lines.append(f"Window for approvals: {window['text']}; {window['changes'] if window['open'] else 'closed, ' + window['changes']}.{data}")
    if event["decision"]:
        lines.append(f"Manual override: {event['decision']['text']}.")
    if event["unknown"]:
        lines.append(f"Not read, so it is not approved: {', '.join(event['unknown'])}.")
    lines += [f"Problem: {remark.rstrip('.')}." for remark in event["remarks"]]
    for participant in event["parts"]:
        state = participant["phase"] or "no record yet"
        because = f", {participant['reason']}" if participant["reason"] else ""
        lines.append(f"{participant['host']}: {state}, {'lists it' if participant['listed'] else 'does not list it'}{because}.")
        errors = [f"; its record says: {item['error']}" if item["error"] else "" for item in participant["changed"]]
        lines += [f"  {findings.shown(item['id'])}: {item['state']}, {_found(item)}{error}." for item, error in zip(participant["changed"], errors)]
        lines += _by_hand(participant, folders)
    taken = [f"{action['action']} on {action['host']} ({action['reason']})" for action in actions]
    lines.append(f"Actions of the next pass: {'; '.join(taken) if taken else 'none'}.")
    return lines


def _by_hand(participant: Values, folders: Values) -> list[str]:
    """Return what to do on a VM where Ansible cannot: the methods are undone in reverse order."""
    # The settings of a VM, or its folder alone. The default is another one on Windows.
    about = folders.get(participant["host"])
    left = [item for item in reversed(participant["changed"]) if item["by_hand"]]
    commands = [f"    {findings.shown(item['id'])}: {_own_undo(item, about) or item['by_hand']}" for item in left]
    if not commands:
        return []
    folder = about.get("records_path") if isinstance(about, Mapping) else about
    if not folder or folder == DEFAULT_PATH:
        folder = WINDOWS_FOLDER if participant["windows"] else DEFAULT_PATH
    where = f"{folder}{'/' if '/' in str(folder) else BACKSLASH}{participant['record']}"
    return [f"  To put {participant['host']} back by hand, run there in this order, and leave its record {where} for the next pass:", *commands]


def _own_undo(item: Values, settings: Any) -> str | None:
    """Return the undo of a method in the operator's own words, as the controller's settings of this VM have it, or None. A record may say anything.

    Without a name of its own an entry is known by its number, which may be another one by now: then only the single one is sure.
    """
    given, option = plain_values.mapping(settings), kind_of(item["method"]).undo_option
    entries = [one for one in read_configured(given.get("drain_methods"), given.get("drain_methods_former")) if option and one.kind == item["method"]]
    for entry in entries:
        if entry.name == item["id"] and (entry.named or len(entries) == 1):
            line = entry.given.get(option)
            return printable(line if isinstance(line, str) else shlex.join(plain_values.texts(line)), LONGEST_LINE) or None
    return None


def _found(item: Values) -> str:
    """Return what a method is put back to, or, where it recorded nothing that it found, whether it is undone."""
    verb = "was" if item["state"] == "undone" else "would be"
    return f"{verb} put back to: {kind_of(item['method']).shown(item['before'])}" if item["before"] else f"{verb} undone"
