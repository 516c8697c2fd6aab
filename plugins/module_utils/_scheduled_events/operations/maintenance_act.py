# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Take all actions of one VM in an iteration, in order, each under its lease, and return what is observed then. It decides nothing."""

from __future__ import annotations

import functools
import time
import typing as t

from ..core.errors import ScheduledEventsError
from ..core.printable_text import LONGEST_LINE, printable
from ..core.types import Data, Values
from ..discovery.endpoint import open_client
from ..drain.orders import Identity, OrderError, drain_order, undo_order
from ..host.access import Failed, HostAccess, Result
from ..host.files import Files
from ..host.machine.services import ServiceError
from ..host.machine.time_limits import with_limit
from ..host.system import Host
from ..imds.enabled_since import boot_id_of
from ..journal.record_changes import RecordChange
from ..journal.record_schema import CONFLICT, NOT_WRITTEN, RecordsError
from ..journal.record_store import RecordStore
from ..lease.host_marks import leave_mark
from ..lease.lease_operations import UnderLease
from ..lease.lease_store import LeaseStore
from ..lease.lease_time import MOST_SECONDS
from .leased_record import LeasedRecord
from .maintenance_info import observation_arguments, observe
from .maintenance_record import change_records, record_arguments
from .observation_options import refuse_wrong
from .scheduled_events_approve import approve

if t.TYPE_CHECKING:
    from ..drain.engine import Outcome

Action = Values

# What maintenance_record does, by action.
RECORD_STATES = {"acquire": "leased", "release": "released", "write": "present", "prune": "pruned"}
RECORD_OPTIONS = ("event_id", "event", "changes", "stamp", "restore", "expected_revision", "lease", "expired", "history")
# An approval must not outlast a pass: it is decided anew in the next iteration.
APPROVAL_PATIENCE = {"request_timeout": 20.0, "retries": 1}
ACTIONS = (*RECORD_STATES, "approve", "undo", "recover", "drain", "take_over")


def act_arguments() -> dict[str, Data]:
    """Return the argument spec of maintenance_act."""
    return {
        **observation_arguments(),
        "actions": {"type": "list", "elements": "dict", "required": True},
        "identity": {"type": "dict", "options": {"vm_id": {"type": "str"}, "vm_name": {"type": "str"}}},
        "observe": {"type": "bool", "default": True},
        "host_mark": {"type": "str"},
        "look_for_services": {"type": "bool", "default": False},
        # The action of this name keeps them on the controller.
        "vm_settings": {"type": "dict"},
        "settings_of": {"type": "str"},
    }


class Acting:
    """The actions of one call. One that fails says so in its result, and the next ones are taken all the same."""

    def __init__(self, options: Values, access: HostAccess) -> None:
        if access.files is None or access.host is None or access.machine is None:
            raise AssertionError("actions need files, a host and a machine")
        self._options = options
        self._access = access
        self._files: Files = access.files(options["records_path"])
        self._host: Host = access.host(options["boot_id"])
        self._machine = access.machine(self._host.now)
        self._end = time.monotonic() + MOST_SECONDS
        self._about = options.get("identity") or {}

    @functools.cached_property
    def _identity(self) -> Identity:
        """Which boot it is costs calls of a Windows VM, and not every action asks."""
        return Identity(self._about.get("vm_id") or None, self._about.get("vm_name") or None, boot_id_of(self._files, self._host))

    def take(self, action: Action) -> Result:
        """Take one action. Whatever fails is in the result, and keeps none of the others from being taken."""
        name = action.get("action")
        result: Result = {"action": str(name), "event_id": str(action.get("event_id") or ""), "failed": False, "changed": False}
        try:
            if time.monotonic() > self._end:
                # The controller may have given this run up; the next one decides anew.
                raise OrderError(f"no time was left after {MOST_SECONDS:.0f} s")
            result.update(self._take(str(name), action))
        except Exception as error:  # a damaged file, a bug: the results of the other actions must reach the controller
            result.update(self._failure(error))
            if result["error_kind"] in (NOT_WRITTEN, CONFLICT):
                # The plan reports the first, once for all actions. The second is a race of two runs: the next iteration observes and decides anew.
                return result
            words = "{} could not {} {}: {}".format(self._about.get("vm_name") or "this VM", name, result["event_id"] or "?", result["msg"])
            self._access.warn(printable(words, LONGEST_LINE))
        return result

    def observe(self) -> Result:
        """Return the observation, or its failure: what was done before must reach the controller all the same."""
        try:
            client = open_client(self._options, self._access)
            try:
                return observe(client, self._files, self._host, self._options, self._access.check_mode)
            finally:
                client.close()
        except Exception as error:  # as in take()
            return self._failure(error)

    def services(self) -> Result:
        """Return which units run that a drain method is for, if that was asked. It is for a hint only: nothing is said of a machine without systemd."""
        if not self._options.get("look_for_services") or self._host.system == "windows":
            return {}
        from ..drain.registry import running_units

        try:
            return {"services": running_units(self._machine.services)}
        except ServiceError:
            return {}

    def leave_mark(self) -> Result:
        """Leave the mark of this host, if it has one, and return all marks. A failure is a warning: the observation goes on."""
        mark = self._options.get("host_mark")
        if not mark or self._access.check_mode:
            return {}
        try:
            return {"host_marks": leave_mark(self._files, self._host, mark)}
        except Exception as error:  # as in take()
            failure = self._failure(error)
            if failure["error_kind"] != NOT_WRITTEN:
                self._access.warn(printable(failure["msg"], LONGEST_LINE))
            return {}

    def _failure(self, error: Exception) -> Result:
        """Return the failure of an action or of the observation. Raise the error where the VM cannot be reached any more: then it has no result."""
        if self._machine.is_lost(error):
            raise error
        return {"failed": True, "msg": str(error) or type(error).__name__, "error_kind": _kind(error)}

    def _take(self, name: str, action: Action) -> Result:
        if name in RECORD_STATES:
            return self._change_records(name, action)
        if name == "approve":
            return self._approve(action)
        if name in ("undo", "recover"):
            if self._access.check_mode:
                return {"state": "undoing", "changed": True}
            # Imported here only: most runs of this module drain nothing, and a module compiles what it imports each time.
            from ..drain.undo import Undo

            lease = self._under_lease(action)
            return self._told(Undo(undo_order(action), self._journal(action, lease), with_limit(self._machine, lease.limit)).run())
        if name == "drain":
            return self._preview(action) if self._access.check_mode else self._drain(action)
        if name == "take_over":
            return self._take_over(action)
        raise OrderError(f"action is {name!r}; known are {', '.join(ACTIONS)}")

    def _drain(self, action: Action) -> Result:
        from ..drain.engine import Drain  # as in _take

        lease = self._under_lease(action)
        outcome = Drain(drain_order(action), self._journal(action, lease), with_limit(self._machine, lease.limit), self._identity).run()
        return dict(self._told(outcome), warning=outcome.warning, handover=dict(outcome.handover))

    def _preview(self, action: Action) -> Result:
        """Return what a drain would do. A Windows VM is not asked: its modules skip what they would run, in check mode."""
        if self._host.system == "windows":
            return {"state": "draining", "changed": True}
        from ..drain.preview import preview  # as in _take

        # Reading needs no lease.
        record = self._journal(action, self._under_lease({"event_id": action.get("event_id")})).read()
        found = preview(drain_order(action), record, self._machine)
        error = "; ".join(found.refused) or None
        state = "failed" if error else "draining"
        return {"state": state, "error": error, "changed": True, "was": found.before, "would": found.after, "doubts": found.doubts}

    def _told(self, outcome: Outcome) -> Result:
        """Return a drain or an undo as a result. What an operator has to know all the same is a warning, too."""
        found = {"state": outcome.state, "error": outcome.error, "record": outcome.record, "changed": True}
        if outcome.warning:
            self._access.warn(printable(outcome.warning, LONGEST_LINE))
            found["warning"] = outcome.warning
        return found

    def _take_over(self, action: Action) -> Result:
        """Make SQL Server on this VM primary of an availability group of another VM that drains. It needs no record here.

        That the other VM is primary is its own claim: the cluster, as this VM sees it, must have the group there.
        """
        group, instance, nodes = str(action.get("group") or ""), str(action.get("instance") or ""), [str(node) for node in action.get("primary") or ()]
        if not group or not instance or not nodes:
            raise OrderError("group, instance and primary must be given")
        cluster = self._machine.failover_cluster
        if cluster is None:
            raise OrderError("there is no failover cluster on this system")
        owner = next((role.owner for role in cluster.describe().roles if role.name.lower() == group.lower()), "")
        if owner.lower() not in map(str.lower, nodes):
            raise OrderError(f"{instance} does not take over availability group {group}: it is on {owner or 'no node'}, and not on {' or '.join(nodes)}")
        if not self._access.check_mode:
            cluster.take_over(instance, group)
        return {"changed": True}

    def _change_records(self, name: str, action: Action) -> Result:
        options = {name: about.get("default") for name, about in record_arguments().items()}
        options.update({key: action[key] for key in RECORD_OPTIONS if action.get(key) is not None})
        options.update(state=RECORD_STATES[name], vm_id=self._identity.vm_id, vm_name=self._identity.vm_name)
        # A note that is bound to a revision is no check of a boot.
        options["boot_id"] = None if options["expected_revision"] is not None else self._identity.boot_id
        found = change_records(self._files, self._host, options, self._access.check_mode, self._access.log)
        return {key: found[key] for key in ("changed", "leases") if key in found}

    def _approve(self, action: Action) -> Result:
        """Record the intention on this VM, approve, and record that."""
        event_ids = [str(event_id) for event_id in action.get("event_ids") or ()]
        for event_id in event_ids:
            self._note(event_id, action, RecordChange(stamp=("approving_at",)))
        client = open_client(dict(self._options, **APPROVAL_PATIENCE), self._access)
        try:
            names = action.get("approve_for") or None
            answer = approve(client, event_ids, approve_for=names, vm_name=self._options.get("vm_name"), check_mode=self._access.check_mode)
        finally:
            client.close()
        found = {key: answer[key] for key in ("approved", "already_started", "not_found")}
        said = {str(event_id).strip().lower() for event_id in found["approved"]}
        for event_id in event_ids:
            if event_id.strip().lower() in said:
                # Without a check of the lease: the event is approved, even if another run has the lease now, and the record must say so.
                self._note(event_id, {}, RecordChange(changes={"phase": "approved"}, stamp=("approved_at",)))
        return dict(found, state="approved", changed=answer["changed"])

    def _note(self, event_id: str, action: Action, change: RecordChange) -> None:
        if not self._access.check_mode:
            about = dict(action, event_id=event_id)
            self._journal(about, self._under_lease(about)).write(change)

    def _under_lease(self, action: Action) -> UnderLease:
        if not str(action.get("event_id") or "").strip():
            raise OrderError("event_id is missing")
        return UnderLease(LeaseStore(self._files, self._host), action.get("lease"), str(action.get("event_id")))

    def _journal(self, action: Action, lease: UnderLease) -> LeasedRecord:
        return LeasedRecord(RecordStore(self._files, self._host), lease, str(action.get("event_id")), self._identity.vm_id, self._access.log)


def act_on_vm(options: Values, access: HostAccess) -> Result:
    """Do what maintenance_act does: every action, then one observation, whose keys are returned with the results.

    Raise Failed, with the results, where there is no observation.
    """
    refuse_wrong(options)
    acting = Acting(options, access)
    results = [acting.take(action) for action in options["actions"]]
    changed = any(result["changed"] for result in results)
    marks = acting.leave_mark()
    found = {**acting.observe(), **marks, **acting.services()} if options["observe"] else {}
    if found.get("failed"):
        raise Failed(found["msg"], error_kind=found["error_kind"], changed=changed, results=results)
    return dict(found, changed=changed, results=results)


def _kind(error: Exception) -> str:
    if isinstance(error, (RecordsError, ScheduledEventsError)):
        return error.kind
    return "bad_option" if isinstance(error, OrderError) else "records" if isinstance(error, OSError) else "internal"
