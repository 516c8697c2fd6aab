# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""One event on this VM, from the trigger to the end of its drain: the steps that a controller's run would take, under a lease of the watcher's own."""

from __future__ import annotations

import typing as t

from ...core.clock import Clock
from ...core.errors import ScheduledEventsError
from ...core.types import Data, Values
from ...host.access import HostAccess, Result
from ...host.files import Files
from ...host.system import Host
from ...imds.document import Event, names_vm
from ...imds.enabled_since import boot_id_of, note_asked
from ...imds.identity import Identity, read_identity
from ...journal.record_schema import UNSEEN, Record, RecordsError
from ...journal.record_store import DEFAULT_PATH, RecordStore
from ...lease.lease_store import LeaseStore
from ...lease.lease_time import WATCHER_LEASE
from ...operations.maintenance_act import Acting
from ..settings import Settings
from .content import DrainContent
from .decision import APPROVE, LEAVE, NO_RULE, Decision, Situation, decide, rule_of_record
from .due import PREEMPT, is_due
from .endpoint import Endpoint, Seen
from .rules import first_match

# How the ids of the watcher's runs begin. One draining unit runs at a time, so another lease of it is that of one that was killed.
WATCHER = "watcher"
RENEW_SECONDS = 10.0
CONNECT_SECONDS = 2.0
# Longer than a Preempt's notice. Where the event is still listed then, the asker starts the unit again.
MOST_SECONDS = 60.0


class VmAccess(t.NamedTuple):
    """This VM, as the steps need it."""

    settings: Settings
    content: DrainContent
    access: HostAccess
    endpoint: Endpoint
    files: Files
    host: Host
    clock: Clock
    run: str
    """The id of this run of the unit: WATCHER and a random part."""
    log: t.Callable[[str], None]


class ServedEvent:
    """One event. ``step`` is called until it returns True; ``failed`` says then whether something went wrong."""

    def __init__(self, event_id: str, vm: VmAccess) -> None:
        self.failed = False
        self._event_id = event_id
        self._vm = vm
        self._end = vm.clock.monotonic() + MOST_SECONDS
        self._renewed_at: float | None = None
        self._event: Event | None = None
        self._problem = ""
        self._rule: Values = {}
        self._record: Record | None = None
        self._identity: Identity = read_identity(None)

    def step(self) -> bool:
        """Take one step. Return whether nothing is left to do. Whatever goes wrong is in the journal."""
        try:
            return self._begin() if self._event is None else self._go_on()
        except (ScheduledEventsError, OSError) as error:
            return self._over(f"nothing was done: {error}", failed=True)

    @property
    def began(self) -> bool:
        """Return whether its drain goes on."""
        return self._event is not None

    def _begin(self) -> bool:
        try:
            seen = self._vm.endpoint.look()
        except ScheduledEventsError as error:
            return self._has_no_answer(str(error))
        event = self._find(seen)
        if event is None:
            return self._over("the endpoint does not list it for this VM, or not yet: nothing to do")
        decision = self._decide(event)
        if decision.action == LEAVE:
            return self._over(f"left alone: {decision.why}")
        self._event = event
        if not self._take_lease():
            return True
        self._vm.log(f"event {self._event_id} ({event['event_type']}): {decision.action}: {decision.why}")
        self._note_noticed(event)
        return self._approve() if decision.action == APPROVE else self._go_on()

    def _note_noticed(self, event: Event) -> None:
        """Record that this VM's own document lists the event. After that, a run trusts the document that does not list it any more."""
        if self._record is None:
            done = self._take("write", event=event, changes={"phase": "noticed", "watcher": UNSEEN})
            if done["failed"]:
                # What follows writes a record, too, and fails where none can be written.
                self._vm.log(f"event {self._event_id}: not recorded as noticed: {done['msg']}")

    def _has_no_answer(self, problem: str) -> bool:
        """Go on asking as long as a Preempt may last. Return whether that is over."""
        if self._vm.clock.monotonic() >= self._end:
            return self._over(f"nothing was done: {problem}", failed=True)
        if problem != self._problem:
            self._vm.log(f"event {self._event_id}: asked again every second: {problem}")
        self._problem = problem
        return False

    def _find(self, seen: Seen) -> Event | None:
        """Return the event, as the endpoint lists it for this VM now, if it is due. The trigger is a hint only."""
        # A run that finds the event gone has to know since when Scheduled Events have been enabled: before that an empty list proves nothing.
        note_asked(self._vm.files, self._vm.host)
        self._identity = seen.identity
        name = self._vm.settings.vm_name or self._identity["name"]
        same = [event for event in seen.events if str(event["event_id"]).strip().lower() == self._event_id]
        for event in same:
            if name is not None and names_vm(event["resources"] or [], name) and is_due(event, self._vm.settings, self._vm.host.now()):
                # Listed twice, it names all that any entry names: an approval is for all of them.
                return {**event, "resources": [vm for one in same for vm in one["resources"] or []]} if len(same) > 1 else event
        return None

    def _decide(self, event: Event) -> Decision:
        rule, records = first_match(self._vm.content.rules, event), self._records()
        self._record = record = next((one for one in records if str(one["event"]["event_id"]).strip().lower() == self._event_id), None)
        self._rule = rule_of_record(rule or NO_RULE, record, records)
        method_ids = [str(method["id"]) for method in self._vm.content.methods]
        boot_id = boot_id_of(self._vm.files, self._vm.host)
        return decide(Situation(event, record, rule, method_ids, boot_id, self._vm.host.now(), self._at_work(), len(records)))

    def _records(self) -> list[Record]:
        """Return the records of this VM. Raise RecordsError where one cannot be read: it might be the one of this event."""
        # Nothing is set aside: a wrong answer about this VM's identity must not take away what an undo needs.
        reading = RecordStore(self._vm.files, self._vm.host).read_all(self._identity["vm_id"])
        if not reading.readable:
            raise RecordsError("; ".join(reading.problems))
        return reading.records

    def _at_work(self) -> str | None:
        """Return which other run is at work on this VM."""
        live = [lease for lease in self._other_leases() if not lease["expired"]]
        return f"run {live[0]['run']}" if live else None

    def _other_leases(self) -> list[Data]:
        """Return the leases of other runs. One of the watcher itself is that of a unit that was killed, and no run has to wait for it."""
        leases = LeaseStore(self._vm.files, self._vm.host)
        others = [lease for lease in leases.read_all().leases if lease["run"] != self._vm.run]
        for lease in others:
            if lease["run"].startswith(WATCHER):
                leases.withdraw(lease["run"])
        return [lease for lease in others if not lease["run"].startswith(WATCHER)]

    def _take_lease(self) -> bool:
        """Acquire the lease, and pass those of other runs: for a Preempt all, else only those that have expired. Return False where that failed.

        A run whose lease is gone stops at its next action, and reads this VM's new record before it acts again. Its other VMs keep their leases.
        """
        if self._renew():
            return False
        # After its own is there: a lease that is acquired later is that of a run that finds this one before it acts.
        leases = LeaseStore(self._vm.files, self._vm.host)
        for lease in self._other_leases():
            if self._event is not None and self._event["event_type"] == PREEMPT:
                leases.withdraw(lease["run"])
            else:
                leases.remove_expired(lease["name"])
        return True

    def _renew(self) -> bool:
        """Give the lease all of its time again. Return whether that failed, and the event is over with it."""
        now = self._vm.clock.monotonic()
        if self._renewed_at is not None and now - self._renewed_at < RENEW_SECONDS:
            return False
        self._renewed_at = now
        done = self._take("acquire", lease={**self._lease(), "kind": "events", "who": "the watcher on this VM", "groups": {}})
        return bool(done["failed"]) and self._over(f"nothing was done: {done['msg']}", failed=True)

    def _go_on(self) -> bool:
        if self._renew():
            return True
        done = self._take("drain", event=self._event, rule=self._rule, methods=self._vm.content.methods, complete=not self._vm.content.elsewhere, at_once=True)
        if done["failed"] or done["state"] == "failed":
            return self._over(f"the drain failed: {done.get('msg') or done.get('error')}", failed=True)
        if done["state"] == "drained":
            return self._over(self._note_rest() if self._vm.content.elsewhere else "drained")
        if self._vm.clock.monotonic() >= self._end:
            return self._over(f"not drained after {MOST_SECONDS:.0f} seconds: {done.get('error')}", failed=True)
        return False

    def _note_rest(self) -> str:
        """Record what only a controller can do, and return it. The record stays in phase draining until a run has done that."""
        rest = f"drained on the VM itself; left to a run: {', '.join(self._vm.content.elsewhere)}"
        done = self._take("write", changes={"reason": rest})
        return f"{rest}; the reason could not be recorded: {done['msg']}" if done["failed"] else rest

    def _approve(self) -> bool:
        done = self._take("approve", event_ids=[self._event_id])
        if done["failed"]:
            return self._over(f"not approved: {done['msg']}", failed=True)
        return self._over("approved" if done["approved"] else "not approved: it had started, or was gone")

    def _take(self, name: str, **action: t.Any) -> Result:
        settings, vm_id = self._vm.settings, self._identity["vm_id"]
        name_of_vm = settings.vm_name or self._identity["name"]
        options = {
            "records_path": settings.records_path or DEFAULT_PATH,
            "boot_id": None,
            "identity": {"vm_id": vm_id, "vm_name": name_of_vm},
            "vm_name": name_of_vm,
            "endpoint": settings.endpoint,
            "api_version": settings.api_version,
            "connect_timeout": CONNECT_SECONDS,
        }
        # As Azure writes it, which is what records and people see.
        event_id = self._event_id if self._event is None else str(self._event["event_id"])
        return Acting(options, self._vm.access).take({"action": name, "event_id": event_id, "lease": self._lease(), **action})

    def _lease(self) -> Data:
        return {"run": self._vm.run, "seconds": WATCHER_LEASE}

    def _over(self, text: str, failed: bool = False) -> bool:
        self.failed = failed
        self._vm.log(f"event {self._event_id}: {text}")
        if self._renewed_at is not None:
            self._take("release")
        return True
