# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Replicas of other VMs' records: a VM that loses its disk must not lose the findings by which changes outside the VM are undone.

One file for each VM and event, replaced atomically. A replica is no record of its keeper, the VM that it lies on.
Its files keep the name mirror-… that version 1 gave them.
"""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from ..core.limits import REPLICA_BYTES
from ..core.types import Data, Values
from ..host.files import Folder
from ..host.system import seconds_between
from . import record_schema as schema
from .record_changes import nothing_changed
from .record_encoding import Reading, complete, load, remove_file, replace_file
from .record_schema import Record, RecordsError, Unreadable
from .record_store import Written

FORMAT = 2
# Version 1.3.1 of the collection wrote format 1: whole records, without their keeper.
KNOWN_FORMATS = (1, 2)
FILE_NAME = re.compile(r"mirror-[0-9a-f]{16}-event-[a-z0-9-]{1,80}\.json")
# The VM of a replica that was not written for this long is gone for good, and so is the change.
LONGEST_SECONDS = 30 * 86400.0

Replica = Data


def replica_argument() -> Data:
    """Return the argument spec of the option replica."""
    return {
        "type": "dict",
        "options": {
            "vm": {"type": "str", "required": True},
            "vm_id": {"type": "str"},
            "keeper_vm_id": {"type": "str"},
            "record": {"type": "dict", "required": True},
        },
    }


def replica_name(vm: str, event_id: str) -> str:
    """Return the name of a replica's file. Any inventory name becomes a short, plain part of it."""
    digest = hashlib.sha256(vm.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"mirror-{digest}-{schema.stem(event_id)}.json"


def checked_record(given: Values) -> Record:
    """Return a record given as an option, with the numbers that templates of ansible-core 2.18 turn into text. Raise RecordsError."""
    event = given.get("event")
    if not isinstance(event, t.Mapping) or not isinstance(event.get("event_id"), str) or not event["event_id"].strip():
        raise RecordsError(f"the record given names no event: {schema.shorten(given)}")
    record = dict(given, event=dict(event))
    record.pop("age_seconds", None)
    for key in ("revision", "attempts"):
        if isinstance(record.get(key), str) and record[key].isdecimal():
            record[key] = int(record[key])
    try:
        return complete(json.loads(json.dumps(record)))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordsError(f"the record given of event {event['event_id']} {error}.")


def only_findings(record: Record) -> Record:
    """Return the record reduced to what a replica may hold: the findings of methods outside the VM, and their times. No option, rule or override."""
    kept = schema.empty_record(schema.event_id_of(record))
    over = record["phase"] == "recovered"
    kept.update(
        phase="recovered" if over else "draining",
        revision=record["revision"],
        history=[{"phase": "draining", "at": item["at"]} for item in record["history"][:1]],
        vm_id=record["vm_id"],
        undone=record["undone"],
        methods=[_only_finding(method) for method in record["methods"] if _is_outside(method)],
    )
    return kept


def _only_finding(method: Values) -> Data:
    return dict({key: method.get(key) for key in ("id", "method", "state", "before", "at")}, outside=True)


def _is_outside(method: Values) -> bool:
    # Templates of ansible-core 2.18 may leave text.
    return str(method.get("outside")).lower() == "true"


def checked_restore(given: Values) -> Record:
    """Return a record to continue from. Raise RecordsError unless it holds the findings of methods outside the VM and nothing else."""
    record = checked_record(given)
    event_id = schema.event_id_of(record)
    for key in ("rule", "decision", "reason", "blocker", "deadline", "verified_at", "approving_at", "approved_at", "started_at", "outcome"):
        if record[key]:
            raise RecordsError(f"the record to restore of event {event_id} has {key}; only findings of methods outside are restored.")
    if record["phase"] != "draining":
        raise RecordsError(f"the record to restore of event {event_id} is in phase {record['phase']}, and must be in phase draining.")
    for method in record["methods"]:
        if not _is_outside(method) or method.get("options"):
            raise RecordsError(f"the record to restore of event {event_id} has a method that is not outside, or has options: {schema.shorten(method)}")
    # With exactly the known keys, as the next actions of a drain expect them.
    record["methods"] = [dict({key: method.get(key) for key in schema.METHOD_KEYS}, outside=True) for method in record["methods"]]
    return record


class ReplicaStore(Folder):
    """All replicas on one VM."""

    def read_all(self, own_vm_id: str | None = None) -> Reading:
        """Read every replica that this VM keeps, in the order of names. Skip what came with the disk of another VM, and what is older than a month."""
        replicas, problems = [], []
        for name in self._names(FILE_NAME):
            try:
                replica = self._read(name)
            except FileNotFoundError:
                continue
            except OSError as error:
                # The replica may be valid, and only not readable now.
                problems.append(f"The replica {name} in {self.files.where} was not read: it {error}.")
                continue
            except Unreadable as error:
                problems.append(f"The file {name} in {self.files.where} is not a usable replica of a record: it {error}. Remove it.")
                continue
            if own_vm_id and replica["keeper_vm_id"] and replica["keeper_vm_id"].lower() != own_vm_id.lower():
                problems.append(
                    f"The replica {name} in {self.files.where} was kept by another VM, whose disk this one is made from; it is not used. Remove it."
                )
            elif not self._is_old(replica):
                replicas.append({key: replica[key] for key in ("vm", "vm_id", "keeper_vm_id", "record")})
        return Reading(replicas, problems)

    def _is_over(self, replica: Replica, older_than: float) -> bool:
        """Return whether the replica has nothing left to put back and is older than ``older_than`` seconds."""
        age = seconds_between(replica["written_at"], self.host.now())
        return nothing_changed(replica["record"]) and age is not None and age > older_than

    def _is_old(self, replica: Replica) -> bool:
        """Return whether the replica is older than a month. Format 1 has no time of writing; the begin of its record counts instead."""
        history = replica["record"]["history"]
        at = replica["written_at"] or (history[0]["at"] if history else None)
        age = seconds_between(at, self.host.now())
        return age is not None and age > LONGEST_SECONDS

    def _read(self, name: str) -> Replica:
        data = load(self.files.read(name))
        if not isinstance(data, dict) or data.get("format") not in KNOWN_FORMATS or not isinstance(data.get("record"), dict):
            raise Unreadable("holds no replica that this version of the collection knows")
        vm, vm_id, event = data.get("vm"), data.get("vm_id"), data["record"].get("event")
        if not isinstance(vm, str) or not isinstance(event, dict) or not isinstance(event.get("event_id"), str):
            raise Unreadable("names no VM or no event")
        if replica_name(vm, event["event_id"]) != name:
            raise Unreadable("belongs to another VM or event than its name says")
        return {
            "vm": vm,
            "vm_id": vm_id if isinstance(vm_id, str) and vm_id else None,
            "keeper_vm_id": _text(data.get("keeper_vm_id")),
            "written_at": _text(data.get("written_at")),
            "record": only_findings(complete(data["record"])),
        }

    def write(self, vm: str, vm_id: str | None, given: Values, check_mode: bool = False, keeper_vm_id: str | None = None) -> Written:
        """Keep a replica of the record, unless there is a newer one; remove it when the VM is recovered. Raise RecordsError."""
        if not vm.strip():
            raise RecordsError("replica.vm is empty.")
        record = only_findings(checked_record(given))
        name = replica_name(vm, schema.event_id_of(record))
        present = self._present(name)
        before = present["record"] if present else None
        # The newer record counts. For another VM of the same name, whose clock does not compare, the one given counts.
        if present is not None and before is not None and present["vm_id"] == (vm_id or None) and _order_key(before) > _order_key(record):
            return Written(before, before, False)
        if record["phase"] == "recovered":
            gone = before if check_mode or remove_file(self.files, name, "The replica") else None
            return Written(gone, None, gone is not None)
        content = {"format": FORMAT, "vm": vm, "vm_id": vm_id or None, "keeper_vm_id": keeper_vm_id or None, "record": record}
        if present is not None and all(present.get(key) == content[key] for key in ("vm_id", "keeper_vm_id", "record")):
            return Written(before, before, False)
        if len(json.dumps(content)) > REPLICA_BYTES:
            raise RecordsError(
                f"the replica of the record of event {schema.shorten(schema.event_id_of(record))} has more than {REPLICA_BYTES} bytes, and is not kept."
            )
        if not check_mode:
            replace_file(self.files, name, dict(content, written_at=self.host.now()), "The replica")
        return Written(before, record, True)

    def _present(self, name: str) -> Replica | None:
        try:
            return self._read(name)
        except (OSError, Unreadable):
            return None  # an unreadable replica is replaced

    def prune(self, older_than: float, check_mode: bool = False) -> list[str]:
        """Remove the replicas of ended events, and those that were not written for a month. Return the ids of their events."""
        pruned: list[str] = []
        for name in self._names(FILE_NAME):
            try:
                replica = self._read(name)
            except (OSError, Unreadable):
                continue
            record = replica["record"]
            try:
                old = self._is_old(replica) or self.files.age(name) > LONGEST_SECONDS
                if not old and not self._is_over(replica, older_than):
                    continue
                if not check_mode:
                    self.files.unlink(name)
            except OSError:
                continue
            pruned.append(schema.event_id_of(record))
        return pruned


def _text(value: t.Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _order_key(record: Record) -> tuple[str, int]:
    """Return the key by which a newer record sorts last: its begin, a text of one form, then its revision."""
    begin = record["history"][0]["at"] if record["history"] else ""
    revision = record.get("revision")
    return begin, revision if isinstance(revision, int) else 0
