# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the VM does about an event that is due: drain, approve, or leave it to a controller. A pure function."""

from __future__ import annotations

import typing as t

from ...core.types import Data
from ...host.system import seconds_between
from ...imds.document import Event
from ...journal.record_schema import Record
from .due import PREEMPT
from .rules import Rule

DRAIN, APPROVE, LEAVE = "drain", "approve", "leave"
# Phases of a record for whose event nothing begins any more on this VM, in whatever boot.
OVER = ("gone", "recovering", "recovered")
APPROVED = ("approved", "started")
# A controller knows more than another try in the last seconds would.
MOST_ATTEMPTS = 3
# An honest VM has a few. With many a run could not read them any more, and that is what an endpoint that makes events up would bring about.
MOST_RECORDS = 100
# An event that matches no rule counts as impact and needs an operator, as for a controller (plugin_utils/_maintenance/config/policy.py).
NO_RULE = Rule("no rule matches", True, "never", None)


class Decision(t.NamedTuple):
    """What to do, and why, in words for the journal of the VM."""

    action: str
    why: str


class Situation(t.NamedTuple):
    """What is known of one event on this VM."""

    event: Event
    record: Record | None
    rule: Rule | None
    method_ids: t.Sequence[str]
    """The methods that the VM can drain by itself."""
    boot_id: str | None
    now: str
    at_work: str | None
    """Another run with a live lease on this VM, or None."""
    records: int = 0
    """The number of records on this VM."""


def decide(found: Situation) -> Decision:
    """Return the decision. What was decided before, by a person or a run, is in the record."""
    record = found.record
    if record is not None and (record["outcome"] is not None or record["phase"] in OVER):
        return Decision(LEAVE, f"its record says {record['phase']}: it is over for this VM")
    if _let_it_come(record, found.now):
        return Decision(LEAVE, "a person decided to let it come")
    if found.at_work is not None and found.event["event_type"] != PREEMPT:
        return Decision(LEAVE, f"{found.at_work} is at work on this VM")
    rule = found.rule or NO_RULE
    return _drain(found, rule) if rule.drain else _approve(found, rule)


def _approve(found: Situation, rule: Rule) -> Decision:
    """Approve what the policy approves without a drain. An approval starts an event for all the VMs that it names: another VM's is not this VM's to give."""
    approved = found.record is not None and found.record["phase"] in APPROVED
    if rule.approve != "now" or found.event["event_status"] != "Scheduled" or approved:
        return Decision(LEAVE, f"rule {rule.name!r} does not drain it")
    if len(found.event["resources"]) != 1:
        return Decision(LEAVE, "it names other VMs, too, so only a run may approve it")
    return Decision(APPROVE, f"rule {rule.name!r} approves it without a drain")


def _drain(found: Situation, rule: Rule) -> Decision:
    record = found.record
    if rule.late and found.event["event_type"] != PREEMPT:
        return Decision(LEAVE, f"rule {rule.name!r} has drain_at or hold_at_deadline, which only a run can follow")
    if not found.method_ids:
        return Decision(LEAVE, "no drain method runs on this VM")
    if record is None and found.records >= MOST_RECORDS:
        return Decision(LEAVE, f"this VM has {found.records} records, which are too many; a run may still drain it. Find out what lists so many events")
    if record is not None and is_drained(record, found.method_ids, found.boot_id):
        return Decision(LEAVE, "drained")
    if record is not None and record["phase"] == "failed" and record["attempts"] >= MOST_ATTEMPTS:
        return Decision(LEAVE, f"its drain failed {record['attempts']} times: {record['reason']}")
    return Decision(DRAIN, f"rule {rule.name!r} drains it")


def is_drained(record: Record, method_ids: t.Sequence[str], boot_id: str | None) -> bool:
    """Return whether these methods are drained in this boot of the VM."""
    entries = {method["id"]: method for method in record["methods"]}
    return all(entries.get(one, {}).get("state") == "drained" and entries[one].get("boot_id") == boot_id for one in method_ids)


def rule_of_record(rule: Rule, record: Record | None, records: t.Iterable[Record]) -> Data:
    """Return the rule as the record keeps it, with what a controller's run adds (plugin_utils/_maintenance/act/method_actions.py).

    ``order`` is the number of the drain among those of this VM: what was drained last is undone first. ``beyond_capacity`` says that it was not asked whether
    there is room, so a run approves the event only where there is.
    """
    kept = record is not None and any(method["state"] != "undone" for method in record["methods"])
    order = _order(record) if kept else max([_order(one) for one in records], default=0) + 1
    return {"name": rule.name, "drain": rule.drain, "approve": rule.approve, "order": order, "beyond_capacity": True}


def _order(record: Record | None) -> int:
    given = ((record or {}).get("rule") or {}).get("order")
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else 0


def _let_it_come(record: Record | None, now: str) -> bool:
    """Return whether an override that still counts says so."""
    decision = record["decision"] if record is not None else None
    if not decision or decision["action"] == "release":
        return False
    return any(one["action"] == "let_it_come" and (seconds_between(now, one["until"]) or 0.0) > 0 for one in (decision, *(decision.get("beside") or ())))
