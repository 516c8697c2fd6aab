# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Leases broken on purpose. Each must be caught by the search, or the search proves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_operations
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import lease_name
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations import maintenance_record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval, leases
from ansible_collections.maintenance.azure.tests.model import run


def _keep(board: leases.Leases, wanted: Callable[[Any], bool]) -> None:
    kept = {host: [lease for lease in leases if wanted(lease)] for host, leases in board.others.items()}
    board.others = {host: leases for host, leases in kept.items() if leases}


def earlier_lease_may_pass(patch: pytest.MonkeyPatch) -> None:
    """Who leased first goes on in spite of who came later. All clocks stand still here, so the run's name decides who was first."""
    real = leases.read

    def read(*given: Any) -> leases.Leases:
        board = real(*given)
        mine = board.settings.run.id
        if board.own:
            _keep(board, lambda lease: lease.run < mine)
        return board

    patch.setattr(leases, "read", read)


def the_winner_passes(patch: pytest.MonkeyPatch) -> None:
    """The rank decides not only who releases: who keeps its leases goes on beside the live lease of the other."""
    real = leases.read

    def read(*given: Any) -> leases.Leases:
        board = real(*given)
        if board.own:
            _keep(board, lambda lease: (lease.kind, lease.run) < (board.settings.run.kind, board.settings.run.id))
        return board

    patch.setattr(leases, "read", read)


def act_without_renaming(patch: pytest.MonkeyPatch) -> None:
    """Whether its own lease is still there nobody asks."""
    patch.setattr(lease_operations.UnderLease, "begin", lambda self, check_mode: None)
    patch.setattr(lease_operations.UnderLease, "end", lambda self, check_mode: None)


class OneFile(LeaseStore):
    """All leases of a VM in one file, which is read, changed and written back."""

    NAME = "claim-shared"

    def _all(self) -> list[str]:
        try:
            return list(json.loads(self.files.read(self.NAME)))
        except FileNotFoundError:
            return []

    def _write(self, names: list[str]) -> None:
        self.files.write_exclusive("temporary-shared", json.dumps(sorted(names)).encode())
        self.files.rename("temporary-shared", self.NAME)

    def read_all(self) -> Any:
        """Every lease in the file."""
        from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import decode_lease
        from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeasesReading

        return LeasesReading([decode_lease(None, name, self._now()) for name in self._all()], [], True)

    def _list(self) -> list[str]:
        return self._all()

    def create(self, run: str, event_id: str, seconds: float, *more: Any, **others: Any) -> str:
        """Add one, and write the file."""
        name = lease_name(run, event_id, self._limit(seconds))
        self._write([*(one for one in self._all() if one != name), name])
        return name

    def renew(self, run: str, event_id: str, seconds: float) -> str:
        """A new limit for one of them, and write the file."""
        names = self._all()
        own = [name for name in names if name in self.own(run, event_id)]
        if not own:
            raise maintenance_record.LeaseLost(run, event_id, "")  # type: ignore[attr-defined]
        name = lease_name(run, event_id, self._limit(seconds))
        self._write([*(one for one in names if one not in own), name])
        return name

    def _unlink(self, name: str) -> bool:
        names = self._all()
        self._write([one for one in names if one != name])
        return name in names


def one_shared_file(patch: pytest.MonkeyPatch) -> None:
    """Two that write at once: the later forgets the lease of the other."""
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import LeaseLost

    patch.setattr(maintenance_record, "LeaseLost", LeaseLost, raising=False)
    patch.setattr(maintenance_record, "LeaseStore", OneFile)
    patch.setattr(run, "LeaseStore", OneFile)


def no_fresh_reading(patch: pytest.MonkeyPatch) -> None:
    """What is being leased is taken for leased: the act comes in the same turn, by observations from before."""
    real = leases.leased

    def leased(*given: Any, **more: Any) -> bool:
        real(*given, **more)
        return True

    patch.setattr(leases, "leased", leased)


def expired_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """A lease whose limit has passed is left where it is, so that its slow owner never learns of it."""
    real = leases.read

    def read(*given: Any) -> leases.Leases:
        board = real(*given)
        _keep(board, lambda lease: not lease.expired)
        return board

    patch.setattr(leases, "read", read)


def no_intention(patch: pytest.MonkeyPatch) -> None:
    """The approval is given without a note on every VM before."""
    patch.setattr(approval, "_noted", lambda case: True)


def leases_do_not_count(patch: pytest.MonkeyPatch) -> None:
    """Room is what nobody is out of yet, whoever has leased it."""
    from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation

    patch.setattr(allocation, "_count_leases", lambda *given: None)


def leases_are_passed(patch: pytest.MonkeyPatch) -> None:
    """Two runs act on one VM at once: nobody looks at whose lease is there."""
    patch.setattr(leases, "at_work", lambda *given: None)


def renewed_before_reading(patch: pytest.MonkeyPatch) -> None:
    """The lease is renewed first, and the record that is built on is read after that, by a run that may have slept in between."""
    real = maintenance_record.write_under_lease

    def write(records: Any, lease: Any, event_id: str, step: Any, expected_revision: Any, check_mode: bool) -> Any:
        lease.begin(check_mode)
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(lease, "begin", lambda check_mode: None)
            return real(records, lease, event_id, step, expected_revision, check_mode)

    patch.setattr(maintenance_record, "write_under_lease", write)


def what_was_noted_is_put_back(patch: pytest.MonkeyPatch) -> None:
    """A record that only says that a drain begins is undone where the room was taken, instead of going on to count."""
    real = allocation._unsure

    def unsure(rooms: Any, unit: Any, *more: Any) -> Any:
        after = real(rooms, unit, *more)
        pairs = zip(unit.participants, after.participants, strict=True)
        return after._replace(participants=[replace(new, intent="undo") if (old.intent, new.intent) == ("drain", "stay") else new for old, new in pairs])

    patch.setattr(allocation, "_unsure", unsure)
