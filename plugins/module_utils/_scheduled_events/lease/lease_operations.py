# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the module maintenance_record does about claims, without the module: options in, result out."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import (
    KINDS,
    LeaseLost,
    checked_run,
    checked_seconds,
    event_digest,
    split_claim_name,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore


def claim_argument() -> dict[str, t.Any]:
    """The argument spec of the option claim."""
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


def change_claims(claims: LeaseStore, options: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """Make, renew or withdraw the claims of a run."""
    claim = options.get("claim") or {}
    run, event_id = checked_run(claim.get("run")), options.get("event_id")
    before = claims.own(run)
    if check_mode:
        after = _predicted(claims, options, claim, before)
    elif options["state"] == "released":
        _remove(claims, options)
        # Without an event all claims of the run; an empty one says that only what has expired is to go.
        if event_id is None or event_id.strip():
            claims.withdraw(run, event_id)
        after = claims.own(run)
    else:
        if not _claim(claims, options, claim):
            # One that was listed above may have been removed before it could be renewed. Who renews goes on only if it never was gone.
            before = [name for name in before if not _is_for(name, options["event_id"])]
        after = claims.own(run)
    return {
        "changed": before != after,
        "record": None,
        "conflict": False,
        "claims": after,
        "diff": {"before": {"claims": before}, "after": {"claims": after}} if before != after else {"before": {}, "after": {}},
    }


def _predicted(claims: LeaseStore, options: t.Mapping[str, t.Any], claim: t.Mapping[str, t.Any], before: list[str]) -> list[str]:
    """The run's own claims as they would be."""
    event_id: str | None = options.get("event_id")
    replaced = [] if event_id is not None and not event_id.strip() else claims.own(claim["run"], event_id)
    left = [name for name in before if name not in replaced]
    if options["state"] == "released" or event_id is None:
        return left
    return [*left, claims.name_of(claim["run"], event_id, _seconds(claim))]


def _claim(claims: LeaseStore, options: t.Mapping[str, t.Any], claim: t.Mapping[str, t.Any]) -> bool:
    """Whether it was there already, and has a new time limit now."""
    # What has expired goes first: the reading after this must not find it any more.
    _remove(claims, options)
    run, event_id, seconds = claim["run"], options["event_id"], _seconds(claim)
    try:
        claims.renew(run, event_id, seconds)
    except LeaseLost:
        claims.create(run, event_id, seconds, claim.get("kind") or "events", claim.get("who") or "", claim.get("groups") or {})
        return False
    return True


def _is_for(name: str, event_id: str) -> bool:
    parts = split_claim_name(name)
    return parts is not None and parts.digest == event_digest(event_id)


def _seconds(claim: t.Mapping[str, t.Any]) -> t.Any:
    """What was given, 0 too: that is refused by name, and not taken for the default."""
    return 180.0 if claim.get("seconds") is None else claim["seconds"]


def _remove(claims: LeaseStore, options: t.Mapping[str, t.Any]) -> None:
    for name in options.get("expired") or []:
        claims.remove_expired(name)


class UnderLease:
    """A write that counts only while the run's own claim stands: renewed before, looked at once more after."""

    def __init__(self, claims: LeaseStore, claim: t.Mapping[str, t.Any] | None, event_id: str) -> None:
        self._claims = claims
        self._claim = claim or None
        self._event_id = event_id
        if self._claim is not None:
            checked_run(self._claim.get("run"))
            self._seconds = checked_seconds(_seconds(self._claim))

    def begin(self, check_mode: bool) -> None:
        """Renew the claim; ClaimLost when it is gone."""
        if self._claim is not None and not check_mode:
            self._claims.renew(self._claim["run"], self._event_id, self._seconds)

    def end(self, check_mode: bool) -> None:
        """The write is out. Has the claim been removed before everybody could see it, then nothing may be done on it."""
        if self._claim is None or check_mode:
            return
        if not self._claims.stands(self._claim["run"], self._event_id):
            raise LeaseLost(self._claim["run"], self._event_id, self._claims.files.where)


def check_claim_options(options: t.Mapping[str, t.Any]) -> None:
    """What the argument spec cannot say by itself."""
    if options["state"] in ("claimed", "released", "marked") and not options.get("claim"):
        raise RecordsError("state is {}, and claim, which says for which run, is missing.".format(options["state"]))
