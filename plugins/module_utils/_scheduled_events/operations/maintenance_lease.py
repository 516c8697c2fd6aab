# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The operation of the module maintenance_lease: options in, result out."""

from __future__ import annotations

import typing as t

from ..core.types import Data, Values
from ..host.access import Failed, HostAccess, Result
from ..journal.record_schema import RecordsError
from ..journal.record_store import DEFAULT_PATH
from ..lease.lease_operations import LEASE_STATES, change_leases, lease_argument
from ..lease.lease_store import LeaseStore


def lease_arguments() -> dict[str, Data]:
    """Return the argument spec of maintenance_lease: a lease, and what is done with it."""
    return {
        "records_path": {"type": "str", "default": DEFAULT_PATH},
        "state": {"type": "str", "default": "leased", "choices": list(LEASE_STATES)},
        "event_id": {"type": "str"},
        **lease_argument()["options"],
    }


def lease_required_if() -> list[list[t.Any]]:
    """Return the options that each state requires."""
    return [["state", "leased", ["event_id"]], ["state", "renewed", ["event_id"]]]


def change_lease(options: Values, access: HostAccess) -> Result:
    """Acquire, renew or release the leases of a run on one host. Raise Failed, with lease_lost where a lease to renew is gone."""
    if access.files is None or access.host is None:
        raise AssertionError("leases need files and a host")
    lease = {key: options[key] for key in lease_argument()["options"]}
    given = {"state": options["state"], "event_id": options["event_id"], "lease": lease}
    try:
        found = change_leases(LeaseStore(access.files(options["records_path"]), access.host(None)), given, access.check_mode)
    except RecordsError as error:
        raise Failed(error.message, error_kind=error.kind)
    return {key: found[key] for key in ("changed", "leases", "diff")}
