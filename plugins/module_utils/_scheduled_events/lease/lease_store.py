# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The claims on a VM: one small file for each run and event, changed only by exclusive creation, rename and unlink.

A run that has claimed a VM has it for itself until the claim's time limit passes and somebody removes the claim. A run
that finds its claim gone stops. So a run that sleeps for too long loses time, and never acts behind another's back.
"""

from __future__ import annotations

import typing as t
import uuid

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import LEASES
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import Files
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import Host, utc_seconds
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import TEMPORARY, RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import (
    Claim,
    LeaseLost,
    checked_run,
    checked_seconds,
    claim_name,
    decode_claim,
    encode_claim,
    event_digest,
    has_expired,
    split_claim_name,
)

ATTEMPTS = 50


class LeasesReading(t.NamedTuple):
    """All claims, in the order of their names; readable is False when there may be more."""

    claims: list[Claim]
    problems: list[str]
    readable: bool


class LeaseStore:
    """All claims on one VM."""

    def __init__(self, files: Files, host: Host) -> None:
        self.files = files
        self.host = host

    def read_all(self) -> LeasesReading:
        """Every claim that lasts through the reading. One that is made or removed meanwhile may be there or not."""
        for _attempt in range(ATTEMPTS):
            try:
                names = [name for name in self._list() if split_claim_name(name)]
                problems = [self._too_many(len(names))] if len(names) > LEASES else []
                return LeasesReading([self._read(name) for name in names[:LEASES]], problems, not problems)
            except FileNotFoundError:
                continue  # renamed or removed in this moment: under its new name it must not be missed
            except OSError as error:
                return LeasesReading([], [f"The claims in {self.files.where} cannot be read: {error}."], False)
        return LeasesReading([], [f"The claims in {self.files.where} change faster than they can be read."], False)

    def _too_many(self, count: int) -> str:
        return f"There are {count} claims in {self.files.where}, and {LEASES} are read: look at what makes them, and remove those that are expired."

    def _read(self, name: str) -> Claim:
        try:
            content: bytes | None = self.files.read(name)
        except FileNotFoundError:
            raise
        except OSError:
            content = None
        return decode_claim(content, name, self._now())

    def make(
        self,
        run: str,
        event_id: str,
        seconds: float,
        kind: str = "events",
        who: str = "",
        groups: t.Mapping[str, str] | None = None,
    ) -> str:
        """Claim this VM for an event. A claim of this run for it that is there already is renewed. Returns the file's name."""
        try:
            return self.renew(run, event_id, seconds)
        except LeaseLost:
            return self.create(run, event_id, seconds, kind, who, groups)

    def create(
        self,
        run: str,
        event_id: str,
        seconds: float,
        kind: str = "events",
        who: str = "",
        groups: t.Mapping[str, str] | None = None,
    ) -> str:
        """Claim this VM where the run has no claim for the event. Returns the file's name."""
        temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
        name = self.name_of(run, event_id, seconds)
        content = encode_claim(event_id, kind, who, groups or {}, self.host.now())
        try:
            self.files.make()
            try:
                self.files.write_exclusive(temporary, content)
                self.files.link(temporary, name)
            finally:
                self._remove(temporary)
        except OSError as error:
            raise RecordsError(
                f"The VM cannot be claimed for event {event_id} in {self.files.where}: {error}. It must be a directory with room, on a file system "
                "with hard links, that this user may write."
            )
        return name

    def name_of(self, run: str, event_id: str, seconds: float) -> str:
        """The name of a claim that is made or renewed now."""
        return claim_name(run, event_id, self._limit(seconds))

    def renew(self, run: str, event_id: str, seconds: float) -> str:
        """Give the run's own claim a new time limit, counted from now. ClaimLost when it is gone."""
        new = self.name_of(run, event_id, seconds)
        own = self.own(run, event_id)
        if not own:
            raise LeaseLost(run, event_id, self.files.where)
        try:
            self.files.rename(own[-1], new)
        except FileNotFoundError:
            raise LeaseLost(run, event_id, self.files.where)
        except OSError as error:
            raise RecordsError(f"The claim {own[-1]} in {self.files.where} cannot be renewed: {error}.")
        return new

    def stands(self, run: str, event_id: str) -> bool:
        """Whether the run's own claim is still there."""
        return bool(self.own(run, event_id))

    def withdraw(self, run: str, event_id: str | None = None) -> list[str]:
        """Remove the run's own claims, for one event or for all; the names of those that were there."""
        found = self.own(run, event_id)
        return [name for name in found if self._unlink(name)]

    def remove_expired(self, name: str) -> bool:
        """Remove another run's claim whose time limit has passed by this VM's clock. One that was renewed has another name."""
        parts = split_claim_name(name)
        if parts is None:
            raise RecordsError(f"{name!r} is not the name of a claim.")
        return has_expired(parts.limit, self._now()) and self._unlink(name)

    def own(self, run: str, event_id: str | None = None) -> list[str]:
        """The names of the run's own claims, the one with the latest limit last."""
        wanted = checked_run(run), None if event_id is None else event_digest(event_id)
        try:
            parts = [(name, split_claim_name(name)) for name in self._list()]
        except OSError as error:
            raise RecordsError(f"The claims in {self.files.where} cannot be read: {error}.")
        own = [(found.limit, name) for name, found in parts if found and found.run == wanted[0] and wanted[1] in (None, found.digest)]
        return [name for _limit, name in sorted(own)]

    def _list(self) -> list[str]:
        try:
            return self.files.names()
        except FileNotFoundError:
            return []

    def _unlink(self, name: str) -> bool:
        try:
            self.files.unlink(name)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RecordsError(f"The claim {name} in {self.files.where} cannot be removed: {error}.")
        return True

    def _remove(self, name: str) -> None:
        try:
            self.files.unlink(name)
        except OSError:
            return  # never written, or swept away with the next record

    def _now(self) -> float:
        return utc_seconds(self.host.now()) or 0.0

    def _limit(self, seconds: float) -> int:
        return int((self._now() + checked_seconds(seconds)) * 1000)
