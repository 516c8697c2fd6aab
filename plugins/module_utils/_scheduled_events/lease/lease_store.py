# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The leases on a VM: one small file for each run and event, changed only by exclusive creation, rename and unlink.

The holder alone acts on the VM until the time limit of its lease passes and another run removes the lease. A run whose
lease is gone stops. So a run that sleeps for too long loses time, and never acts while another run does.
"""

from __future__ import annotations

import typing as t
import uuid

from ..core.limits import LEASES
from ..host.files import TEMPORARY, Folder
from ..journal.record_encoding import remove_file
from ..journal.record_schema import RecordsError, not_written
from . import lease_schema as schema
from .lease_schema import Lease, LeaseLost

ATTEMPTS = 50


class LeasesReading(t.NamedTuple):
    """All leases, in the order of their names; readable is False when there may be more."""

    leases: list[Lease]
    problems: list[str]
    readable: bool


class LeaseStore(Folder):
    """All leases on one VM."""

    def read_all(self) -> LeasesReading:
        """Read every lease. One that is acquired or removed during the reading may be missing."""
        for _attempt in range(ATTEMPTS):
            try:
                names = [name for name in self._list() if schema.split_lease_name(name)]
                problems = [self._too_many(len(names))] if len(names) > LEASES else []
                return LeasesReading([self._read(name) for name in names[:LEASES]], problems, not problems)
            except FileNotFoundError:
                continue  # renamed or removed meanwhile: list again, so that a renewed lease is not missed
            except OSError as error:
                return LeasesReading([], [f"The leases in {self.files.where} cannot be read: {error}."], False)
        return LeasesReading([], [f"The leases in {self.files.where} change faster than they can be read."], False)

    def _too_many(self, count: int) -> str:
        return f"There are {count} leases in {self.files.where}, and {LEASES} are read: find out what creates them, and remove those that are expired."

    def _read(self, name: str) -> Lease:
        try:
            content: bytes | None = self.files.read(name)
        except FileNotFoundError:
            raise
        except OSError:
            content = None
        return schema.decode_lease(content, name, self._now())

    def make(self, run: str, event_id: str, seconds: float, kind: str = "events", who: str = "", groups: t.Mapping[str, str] | None = None) -> str:
        """Acquire a lease for an event, or renew the one that this run has. Return the file's name."""
        try:
            return self.renew(run, event_id, seconds)
        except LeaseLost:
            return self.create(run, event_id, seconds, kind, who, groups)

    def create(self, run: str, event_id: str, seconds: float, kind: str = "events", who: str = "", groups: t.Mapping[str, str] | None = None) -> str:
        """Acquire a lease where the run has none for the event. Return the file's name."""
        temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
        name = self.name_of(run, event_id, seconds)
        content = schema.encode_lease(event_id, kind, who, groups or {}, self.host.now())
        try:
            self.files.make()
            try:
                self.files.write_exclusive(temporary, content)
                self.files.link(temporary, name)
            finally:
                self._remove(temporary)
        except OSError as error:
            raise not_written(self.files.where, error)
        return name

    def name_of(self, run: str, event_id: str, seconds: float) -> str:
        """Return the name of a lease that is made or renewed now."""
        return schema.lease_name(run, event_id, self._limit(seconds))

    def renew(self, run: str, event_id: str, seconds: float) -> str:
        """Give the run's own lease a new time limit, counted from now. Raise LeaseLost when it is gone."""
        new = self.name_of(run, event_id, seconds)
        own = self.own(run, event_id)
        if not own:
            raise LeaseLost(run, event_id, self.files.where)
        try:
            self.files.rename(own[-1], new)
        except FileNotFoundError:
            raise LeaseLost(run, event_id, self.files.where)
        except OSError as error:
            raise RecordsError(f"The lease {own[-1]} in {self.files.where} cannot be renewed: {error}.")
        return new

    def stands(self, run: str, event_id: str) -> bool:
        """Return whether the run's own lease is still there."""
        return bool(self.own(run, event_id))

    def withdraw(self, run: str, event_id: str | None = None) -> list[str]:
        """Remove the run's own leases, for one event or for all. Return the names of those that were there."""
        found = self.own(run, event_id)
        return [name for name in found if self._unlink(name)]

    def remove_expired(self, name: str) -> bool:
        """Remove another run's lease whose time limit has passed by this VM's clock. One that was renewed has another name."""
        parts = schema.split_lease_name(name)
        if parts is None:
            raise RecordsError(f"{name!r} is not the name of a lease.")
        return schema.has_expired(parts.limit, self._now()) and self._unlink(name)

    def own(self, run: str, event_id: str | None = None) -> list[str]:
        """Return the names of the run's own leases, the one with the latest limit last."""
        wanted = schema.checked_run(run), None if event_id is None else schema.event_digest(event_id)
        try:
            parts = [(name, schema.split_lease_name(name)) for name in self._list()]
        except OSError as error:
            raise RecordsError(f"The leases in {self.files.where} cannot be read: {error}.")
        own = [(found.limit, name) for name, found in parts if found and found.run == wanted[0] and wanted[1] in (None, found.digest)]
        return [name for _limit, name in sorted(own)]

    def _unlink(self, name: str) -> bool:
        return remove_file(self.files, name, "The lease")

    def _limit(self, seconds: float) -> int:
        return int((self._now() + schema.checked_seconds(seconds)) * 1000)
