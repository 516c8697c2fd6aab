# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The operation of the module maintenance_record: options in, result out."""

from __future__ import annotations

import typing as t

from ..core.types import Data, Values
from ..host.access import Failed, HostAccess, Result
from ..host.files import Files
from ..host.system import Host
from ..journal.history_limits import limits_argument
from ..journal.record_changes import RecordChange, difference
from ..journal.record_schema import Record, RecordsError, stem
from ..journal.record_store import DEFAULT_PATH, RecordStore, Written
from ..journal.replicas import ReplicaStore, checked_restore, replica_argument
from ..journal.tombstones import Tombstones
from ..lease.lease_operations import LEASE_STATES, UnderLease, change_leases, check_lease_options, lease_argument
from ..lease.lease_store import LeaseStore
from ..lease.progress_marks import change_progress_marks, upgrade_argument
from .leased_record import log_phase, write_under_lease


def record_arguments() -> dict[str, Data]:
    """Return the argument spec of maintenance_record."""
    return {
        "records_path": {"type": "str", "default": DEFAULT_PATH},
        "state": {"type": "str", "default": "present", "choices": ["present", "absent", "pruned", "leased", "released", "replicated", "marked"]},
        "event_id": {"type": "str"},
        "expected_revision": {"type": "int"},
        "event": {"type": "dict"},
        "changes": {"type": "dict"},
        "method": {"type": "dict"},
        "stamp": {"type": "list", "elements": "str"},
        "boot_id": {"type": "str"},
        "vm_id": {"type": "str"},
        "vm_name": {"type": "str"},
        "older_than": {"type": "int", "default": 86400},
        "history": limits_argument(),
        "lease": _lease_of_a_write(),
        "expired": {"type": "list", "elements": "str", "default": []},
        "replica": replica_argument(),
        "restore": {"type": "dict"},
        "upgrade": upgrade_argument(),
    }


def _lease_of_a_write() -> Data:
    spec = lease_argument()
    return {**spec, "options": {**spec["options"], "acquire": {"type": "bool", "default": False}}}


def record_required_if() -> list[list[t.Any]]:
    """Return the options that each state requires."""
    return [
        ["state", "present", ["event_id"]],
        ["state", "absent", ["event_id"]],
        ["state", "leased", ["event_id", "lease"]],
        ["state", "released", ["lease"]],
        ["state", "replicated", ["replica"]],
        ["state", "marked", ["upgrade", "lease"]],
    ]


def change_records(files: Files, host: Host, options: Values, check_mode: bool, log: t.Callable[[str], None]) -> Data:
    """Make the change that the options request; ``log`` gets one line for each new phase that was written. Raise RecordsError."""
    check_lease_options(options)
    records, leases = RecordStore(files, host), LeaseStore(files, host)
    if options["state"] in LEASE_STATES:
        return change_leases(leases, options, check_mode)
    if options["state"] == "replicated":
        return _keep_replica(ReplicaStore(files, host), options["replica"], check_mode)
    if options["state"] == "marked":
        return change_progress_marks(files, host, options, check_mode)
    if options["state"] == "pruned":
        older_than, tombstones, burials = options["older_than"], Tombstones(files, host), Burials(files, host, options)
        pruned = records.prune(older_than, check_mode, burials.try_to_bury) + ReplicaStore(files, host).prune(older_than, check_mode)
        tombstones.prune(check_mode)
        if not check_mode:
            burials.finish()
        diff = {"before": {"records": pruned}, "after": {"records": []}} if pruned else {"before": {}, "after": {}}
        return {"changed": bool(pruned), "record": None, "conflict": False, "pruned": pruned, "diff": diff}
    event_id = options["event_id"]
    if not event_id.strip():
        raise RecordsError("event_id is empty.")
    if options["state"] == "absent":
        written = records.remove(event_id, options["expected_revision"], check_mode, Burials(files, host, options).bury)
    else:
        lease = UnderLease(leases, options.get("lease"), event_id)
        written = write_under_lease(records, lease, event_id, _requested_change(options), options["expected_revision"], check_mode)
    if not check_mode:
        log_phase(log, event_id, written)
    return _result(written, event_id)


class Burials:
    """What is written before a record is removed: its entry in the history of the VM, and its tombstone."""

    def __init__(self, files: Files, host: Host, options: Values) -> None:
        # Each run of a module on a VM would compile it, and few remove a record.
        from ..journal.history import history_of

        self._history = history_of(files, host, options.get("history"))
        self._tombstones = Tombstones(files, host)
        self._failed: RecordsError | None = None

    def bury(self, record: Record) -> None:
        """Write both. Raise RecordsError; then the record must stay."""
        self._history.add_record(record)
        self._tombstones.write(record)

    def try_to_bury(self, record: Record) -> bool:
        """Write both. Return whether that succeeded; if not, the record must stay, and the end says so."""
        try:
            self.bury(record)
        except RecordsError as error:
            self._failed = error
            return False
        return True

    def finish(self) -> None:
        """Keep the history within its limits. Raise RecordsError where a record could not be buried; not as not_written: the records can be written."""
        self._history.prune()
        if self._failed is not None:
            raise RecordsError(f"Records of ended events are kept until their history can be written: {self._failed.message}")


def write_records(options: Values, access: HostAccess) -> Result:
    """Run the operation of maintenance_record on one host. Raise Failed."""
    if access.files is None or access.host is None:
        raise AssertionError("records need files and a host")
    try:
        return change_records(access.files(options["records_path"]), access.host(None), options, access.check_mode, access.log)
    except RecordsError as error:
        raise Failed(error.message, error_kind=error.kind, conflict=error.conflict, record=error.record)


def _keep_replica(replicas: ReplicaStore, given: Values, check_mode: bool) -> Data:
    """Keep a replica of another VM's record. It changes no phase of this VM, so nothing is logged."""
    written = replicas.write(given["vm"], given.get("vm_id"), given["record"], check_mode, given.get("keeper_vm_id"))
    name = "replica of {}".format(given["vm"])
    return {"changed": written.changed, "record": written.after, "conflict": False, "diff": difference(written.before, written.after, name)}


def _requested_change(options: Values) -> RecordChange:
    given = {key: options[key] for key in RecordChange._fields if options.get(key)}
    return RecordChange(**{**given, "restore": checked_restore(given["restore"])} if "restore" in given else given)


def _result(written: Written, event_id: str) -> Data:
    return {"changed": written.changed, "record": written.after, "conflict": False, "diff": difference(written.before, written.after, stem(event_id))}
