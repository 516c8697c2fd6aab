# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Acquire, renew and release leases for the module maintenance_record: options in, result out."""

from __future__ import annotations

import typing as t

from ..journal.record_schema import RecordsError
from .lease_schema import KINDS, LeaseLost, checked_run, checked_seconds, event_digest, split_lease_name
from .lease_store import LeaseStore


def lease_argument() -> dict[str, t.Any]:
    """Return the argument spec of the option lease, which names a lease."""
    return {
        "type": "dict",
        "options": {
            "run": {"type": "str", "required": True},
            "seconds": {"type": "float", "default": 180.0},
            "kind": {"type": "str", "default": "events", "choices": list(KINDS)},
            "who": {"type": "str", "default": ""},
            "groups": {"type": "dict", "default": {}},
        },
    }


def change_leases(leases: LeaseStore, options: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """Acquire, renew or release the leases of a run."""
    lease = options.get("lease") or {}
    run, event_id = checked_run(lease.get("run")), options.get("event_id")
    before = leases.own(run)
    if check_mode:
        after = _predict_leases(leases, options, lease, before)
    elif options["state"] == "released":
        _remove(leases, options)
        # Without an event, remove all leases of the run; with an empty one, remove only what has expired.
        if event_id is None or event_id.strip():
            leases.withdraw(run, event_id)
        after = leases.own(run)
    else:
        if not _acquire(leases, options, lease):
            # Another run may have removed a listed lease before this run could renew it. A run that renews continues only if its lease was never lost.
            before = [name for name in before if not _is_for(name, options["event_id"])]
        after = leases.own(run)
    return {
        "changed": before != after,
        "record": None,
        "conflict": False,
        "leases": after,
        "diff": {"before": {"leases": before}, "after": {"leases": after}} if before != after else {"before": {}, "after": {}},
    }


def _predict_leases(leases: LeaseStore, options: t.Mapping[str, t.Any], lease: t.Mapping[str, t.Any], before: list[str]) -> list[str]:
    """Return the leases that the run would have after the change."""
    event_id: str | None = options.get("event_id")
    replaced = [] if event_id is not None and not event_id.strip() else leases.own(lease["run"], event_id)
    left = [name for name in before if name not in replaced]
    if options["state"] == "released" or event_id is None:
        return left
    return [*left, leases.name_of(lease["run"], event_id, _seconds(lease))]


def _acquire(leases: LeaseStore, options: t.Mapping[str, t.Any], lease: t.Mapping[str, t.Any]) -> bool:
    """Acquire or renew a lease. Return whether it was renewed."""
    # Remove what has expired first: the next reading must not find it.
    _remove(leases, options)
    run, event_id, seconds = lease["run"], options["event_id"], _seconds(lease)
    try:
        leases.renew(run, event_id, seconds)
    except LeaseLost:
        leases.create(run, event_id, seconds, lease.get("kind") or "events", lease.get("who") or "", lease.get("groups") or {})
        return False
    return True


def _is_for(name: str, event_id: str) -> bool:
    parts = split_lease_name(name)
    return parts is not None and parts.digest == event_digest(event_id)


def _seconds(lease: t.Mapping[str, t.Any]) -> t.Any:
    """Return the given seconds, or the default. 0 is returned as given, so that it is refused by name."""
    return 180.0 if lease.get("seconds") is None else lease["seconds"]


def _remove(leases: LeaseStore, options: t.Mapping[str, t.Any]) -> None:
    for name in options.get("expired") or []:
        leases.remove_expired(name)


class UnderLease:
    """The lease under which a write counts: renewed before the write, checked again after it."""

    def __init__(self, leases: LeaseStore, lease: t.Mapping[str, t.Any] | None, event_id: str) -> None:
        self._leases = leases
        self._lease = lease or None
        self._event_id = event_id
        if self._lease is not None:
            checked_run(self._lease.get("run"))
            self._seconds = checked_seconds(_seconds(self._lease))

    def begin(self, check_mode: bool) -> None:
        """Renew the lease. Raise LeaseLost when it is gone."""
        if self._lease is not None and not check_mode:
            self._leases.renew(self._lease["run"], self._event_id, self._seconds)

    def end(self, check_mode: bool) -> None:
        """Check the lease after the write. Raise LeaseLost where it was removed before every other run could read the new record."""
        if self._lease is None or check_mode:
            return
        if not self._leases.stands(self._lease["run"], self._event_id):
            raise LeaseLost(self._lease["run"], self._event_id, self._leases.files.where)


def check_lease_options(options: t.Mapping[str, t.Any]) -> None:
    """Check what the argument spec cannot express. Raise RecordsError."""
    if options["state"] in ("leased", "released", "marked") and not options.get("lease"):
        raise RecordsError("state is {}, and lease, which says for which run, is missing.".format(options["state"]))
