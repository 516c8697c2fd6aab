# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""One observation of a VM: its document, identity, health, records and leases. It decides nothing."""

from __future__ import annotations

from ..core.argument_specs import selection_arguments, shared_arguments
from ..core.errors import ScheduledEventsError
from ..core.types import Data, Values
from ..discovery.endpoint import open_client
from ..host.access import Failed, HostAccess, Result
from ..host.files import Files
from ..host.health import health_arguments
from ..host.system import Host, seconds_between
from ..imds.client import Client
from ..imds.document import flag_own
from ..imds.enabled_since import boot_id_of, note_asked
from ..imds.identity import Identity, read_identity
from ..journal.drain_times import DrainTimes
from ..journal.record_store import DEFAULT_PATH, RecordStore
from ..journal.replicas import ReplicaStore
from ..journal.tombstones import Tombstones
from ..lease.lease_store import LeaseStore
from ..lease.progress_marks import ProgressMarks
from .observation_options import refuse_wrong
from .scheduled_events_info import select


def observation_arguments() -> dict[str, Data]:
    """Return the argument spec of maintenance_info."""
    return {
        **shared_arguments(),
        **selection_arguments(),
        "records_path": {"type": "str", "default": DEFAULT_PATH},
        "health": health_arguments(),
        "include_raw": {"type": "bool", "default": False},
        "boot_id": {"type": "str"},
    }


def observe(client: Client, files: Files, host: Host, options: Values, check_mode: bool = False) -> Data:
    """Return everything that a plan needs to know of one VM. In check mode write nothing, not even the marker. Raise ScheduledEventsError."""
    identity, vm_name = _identify(client, options)
    document = client.get_document()
    now = host.now()
    flag_own(document.events, vm_name)
    selection = {key: options.get(key) for key in selection_arguments()}
    events = select(document.events, selection, vm_name)
    asked = note_asked(files, host, write=not check_mode)
    # Read leases before records: a run that releases its lease has written its record before.
    leases = LeaseStore(files, host).read_all()
    replicas = ReplicaStore(files, host).read_all(identity["vm_id"])
    tombstones = Tombstones(files, host).read_all()
    upgrades = ProgressMarks(files, host, identity["vm_id"]).read_all()
    reading = RecordStore(files, host).read_all(identity["vm_id"], set_aside=not check_mode)
    in_service, why = host.check_health(options.get("health"))
    watcher = host.watcher()
    # Where the folder itself cannot be read, the others would repeat that.
    others = leases.problems + replicas.problems + tombstones.problems + upgrades.problems + asked.problems
    return {
        "vm_name": vm_name,
        "document_incarnation": document.incarnation,
        "api_version": client.api_version,
        **client.where(),
        "events": [_without_raw(event, bool(options.get("include_raw"))) for event in events],
        "identity": identity,
        "system": host.system,
        "boot_id": boot_id_of(files, host),
        "uptime_seconds": host.uptime_seconds(),
        "now": now,
        "enabled_at": asked.enabled_at,
        "enabled_recently": asked.enabled_recently,
        "in_service": in_service,
        "in_service_why": why,
        "watcher": watcher._asdict() if watcher else None,
        "records": [_with_age(record, now) for record in reading.records],
        "records_problems": reading.problems + (others if reading.entered else []),
        "records_readable": reading.readable and leases.readable,
        "cannot_write": asked.cannot_write,
        "leases": leases.leases,
        "replicas": replicas.found,
        "tombstones": tombstones.found,
        "upgrades": upgrades.found,
        "drain_times": DrainTimes(files, host).present(),
    }


def observe_vm(options: Values, access: HostAccess) -> Result:
    """Run the operation of maintenance_info on one host. Raise Failed."""
    if access.files is None or access.host is None:
        raise AssertionError("an observation needs files and a host")
    refuse_wrong(options)
    files, host = access.files(options["records_path"]), access.host(options["boot_id"])
    try:
        client = open_client(options, access)
        try:
            return dict(observe(client, files, host, options, access.check_mode), changed=False)
        finally:
            client.close()
    except ScheduledEventsError as error:
        raise Failed(error.message, error_kind=error.kind)


def _identify(client: Client, options: Values) -> tuple[Identity, str]:
    given = (options.get("vm_name") or "").strip()
    if not given:
        instance = client.get_instance()
        identity = read_identity(instance)
        # Without a name, the client raises the error.
        return identity, identity["name"] or client.get_vm_name()
    try:
        return read_identity(client.get_instance()), given
    except ScheduledEventsError as error:
        client.warn(f"Who this VM is cannot be read, only its name is known, as given with vm_name: {error}")
        return read_identity(None), given


def _without_raw(event: Data, include_raw: bool) -> Data:
    return event if include_raw else {key: value for key, value in event.items() if key != "raw"}


def _with_age(record: Data, now: str) -> Data:
    """Add the seconds since the event was first noted, by the VM's own clock; None where they are not known."""
    begin = record["history"][0]["at"] if record["history"] else None
    return dict(record, age_seconds=seconds_between(begin, now))
