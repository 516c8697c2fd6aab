# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Acquire, renew and release leases: options in, result out."""

from __future__ import annotations

import time
import typing as t

from ..core.types import Data, Values
from ..journal.record_schema import RecordsError
from .lease_schema import KINDS, LeaseLost, checked_run, checked_seconds
from .lease_store import LeaseStore
from .lease_time import LEASE, SPARE_SECONDS

LEASE_STATES = ("leased", "renewed", "released")


def lease_argument() -> Data:
    """Return the argument spec of the option lease, which names a lease."""
    return {
        "type": "dict",
        "options": {
            "run": {"type": "str", "required": True},
            "seconds": {"type": "float", "default": LEASE},
            "kind": {"type": "str", "default": "events", "choices": list(KINDS)},
            "who": {"type": "str", "default": ""},
            "groups": {"type": "dict", "default": {}},
        },
    }


def change_leases(leases: LeaseStore, options: Values, check_mode: bool) -> Data:
    """Acquire, renew or release the leases of a run. Raise LeaseLost where a lease is only to be renewed, and is gone."""
    lease = options.get("lease") or {}
    run, event_id = checked_run(lease.get("run")), options.get("event_id")
    before = leases.own(run)
    if check_mode:
        after = _predict_leases(leases, options, lease, before)
    else:
        # Remove what has expired first: the next reading must not find it.
        for name in options.get("expired") or []:
            leases.remove_expired(name)
        if options["state"] == "renewed":
            leases.renew(run, options["event_id"], _seconds(lease))
        elif options["state"] == "leased":
            acquire(leases, lease, options["event_id"])
        # Without an event, remove all leases of the run; with an empty one, remove only what has expired.
        elif event_id is None or event_id.strip():
            leases.withdraw(run, event_id)
        after = leases.own(run)
    return {
        "changed": before != after,
        "record": None,
        "conflict": False,
        "leases": after,
        "diff": {"before": {"leases": before}, "after": {"leases": after}} if before != after else {"before": {}, "after": {}},
    }


def _predict_leases(leases: LeaseStore, options: Values, lease: Values, before: list[str]) -> list[str]:
    """Return the leases that the run would have after the change."""
    event_id: str | None = options.get("event_id")
    replaced = [] if event_id is not None and not event_id.strip() else leases.own(lease["run"], event_id)
    left = [name for name in before if name not in replaced]
    if options["state"] == "released" or event_id is None:
        return left
    return [*left, leases.name_of(lease["run"], event_id, _seconds(lease))]


def acquire(leases: LeaseStore, lease: Values, event_id: str) -> None:
    """Acquire a lease, or renew the one that the run has."""
    leases.make(lease["run"], event_id, _seconds(lease), lease.get("kind") or "events", lease.get("who") or "", lease.get("groups") or {})


def _seconds(lease: Values) -> t.Any:
    """Return the given seconds, or the default. 0 is returned as given, so that it is refused by name."""
    return LEASE if lease.get("seconds") is None else lease["seconds"]


class UnderLease:
    """The lease under which a write counts: renewed, or acquired, before the write, and checked again after it."""

    def __init__(self, leases: LeaseStore, lease: Values | None, event_id: str) -> None:
        self._leases = leases
        self._lease = lease or None
        self._event_id = event_id
        if self._lease is not None:
            checked_run(self._lease.get("run"))
            self._seconds = checked_seconds(_seconds(self._lease))
        self._ends = 0.0

    def begin(self, check_mode: bool) -> None:
        """Renew the lease. Raise LeaseLost when it is gone, unless it may be acquired anew."""
        if self._lease is None or check_mode:
            return
        began = time.monotonic()
        if self._lease.get("acquire"):
            acquire(self._leases, self._lease, self._event_id)
        else:
            self._leases.renew(self._lease["run"], self._event_id, self._seconds)
        self._ends = began + self._seconds

    def limit(self, wanted: float) -> float:
        """Return how many of the wanted seconds a call on the VM may take, so that the lease never runs out under it. Raise LeaseLost when it is gone.

        Where too few are left, the lease is renewed first.
        """
        if self._lease is None:
            return wanted
        if self._ends - time.monotonic() < wanted + SPARE_SECONDS:
            self.begin(False)
        left = self._ends - time.monotonic()
        # Of a lease that is shorter than that, as in a rehearsal, the half.
        return min(wanted, max(left - SPARE_SECONDS, left / 2))

    def end(self, check_mode: bool) -> None:
        """Check the lease after the write. Raise LeaseLost where it was removed before every other run could read the new record."""
        if self._lease is None or check_mode:
            return
        if not self._leases.stands(self._lease["run"], self._event_id):
            raise LeaseLost(self._lease["run"], self._event_id, self._leases.files.where)


def check_lease_options(options: Values) -> None:
    """Check what the argument spec cannot express. Raise RecordsError."""
    if options["state"] in (*LEASE_STATES, "marked") and not options.get("lease"):
        raise RecordsError("state is {}, and lease, which says for which run, is missing.".format(options["state"]))
