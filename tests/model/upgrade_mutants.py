# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate, the upgrade and what respond leaves to it, broken on purpose. Each must be caught by the search."""

from __future__ import annotations

import types
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseLost, LeaseStore
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import presence
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade import gate, gate_blockers
from ansible_collections.maintenance.azure.tests.model import upgrade_run


def _gates_own(patch: pytest.MonkeyPatch, **other: Any) -> None:
    """The gate goes by another acquiring leases on; respond by the real one."""
    patch.setattr(gate, "leases", types.SimpleNamespace(**{**vars(leases), **other}))


def no_second_observation(patch: pytest.MonkeyPatch) -> None:
    """The gate leases, and opens in the same observation."""

    def leased(*given: Any, **more: Any) -> bool:
        leases.leased(*given, **more)
        return True

    _gates_own(patch, leased=leased)


def gate_ignores_leases(patch: pytest.MonkeyPatch) -> None:
    """The leases of other runs are nothing to the gate."""

    def read(*given: Any) -> leases.Leases:
        board = leases.read(*given)
        board.others.clear()
        return board

    _gates_own(patch, read=read)


def gate_ignores_events(patch: pytest.MonkeyPatch) -> None:
    """An event that names the batch is not in the way."""
    patch.setattr(gate_blockers, "of_events", lambda *given: [])


def gate_ignores_room(patch: pytest.MonkeyPatch) -> None:
    """Who else is out, or is about to be, is not asked."""
    patch.setattr(gate_blockers, "of_capacity", lambda *given: [])


def done_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What is marked as done is upgraded again."""
    patch.setattr(gate, "_split", lambda asked, hosts: (asked.batch, ()))


def respond_passes_the_upgrade(patch: pytest.MonkeyPatch) -> None:
    """Respond does not see the leases of upgrades. (To forget only who is at work changes nothing: a lease counts as made where it is alone.)"""
    real = leases.read

    def read(*given: Any) -> leases.Leases:
        board = real(*given)
        if board.settings.run.kind == "events":
            board.others = {name: [lease for lease in leases if lease.kind != "upgrade"] for name, leases in board.others.items()}
            board.others = {name: leases for name, leases in board.others.items() if leases}
        return board

    patch.setattr(leases, "read", read)


def adopted_too_early(patch: pytest.MonkeyPatch) -> None:
    """What no document lists is over, and is put back, whether or not its upgrade is alive."""
    patch.setattr(presence, "_upgrade_under_way", lambda *given: None)
    respond_passes_the_upgrade(patch)


def marks_take_no_room(patch: pytest.MonkeyPatch) -> None:
    """A VM whose upgrade was cut off is taken for one that serves."""
    real = allocation._why_stuck

    def stuck(host: Any) -> str | None:
        why = real(host)
        return None if why and "in the middle of upgrade" in why else why

    patch.setattr(allocation, "_why_stuck", stuck)


def released_before_recovered(patch: pytest.MonkeyPatch) -> None:
    """The VM is given back as soon as its tasks have ended."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "tasks", "upgraded", "give_back", "recover", "done"))


def released_before_the_tasks(patch: pytest.MonkeyPatch) -> None:
    """The VM is given back as soon as it is drained."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "give_back", "tasks", "upgraded", "recover", "done"))


def done_before_it_is(patch: pytest.MonkeyPatch) -> None:
    """The mark is written before the tasks have ended."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "done", "tasks", "upgraded", "recover", "give_back"))


def back_before_upgraded(patch: pytest.MonkeyPatch) -> None:
    """The VM is put back before its tasks."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "recover", "tasks", "upgraded", "done", "give_back"))


def never_marked(patch: pytest.MonkeyPatch) -> None:
    """Nobody writes that it is done: started again, an upgrade never comes to its end."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "tasks", "upgraded", "recover", "give_back"))


def never_given_back(patch: pytest.MonkeyPatch) -> None:
    """The leases of a batch that is done stay, and others wait for their time limit."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "tasks", "upgraded", "recover", "done"))


def upgraded_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Whether the tasks were done before a run was killed nobody asks."""
    patch.setattr(upgrade_run, "WORK", ())


def renewed_though_gone(patch: pytest.MonkeyPatch) -> None:
    """A lease that was there a moment ago is made anew, and taken for renewed. What the collection did at first."""
    renew = LeaseStore.renew

    def renew_or_create(self: LeaseStore, run: str, event_id: str, seconds: float) -> str:
        try:
            return renew(self, run, event_id, seconds)
        except LeaseLost:
            return self.create(run, event_id, seconds)

    patch.setattr(LeaseStore, "renew", renew_or_create)


def upgraded_before_it_is(patch: pytest.MonkeyPatch) -> None:
    """The mark that leaves out the tasks is written before them."""
    patch.setattr(upgrade_run, "BATCH", ("drain", "upgraded", "tasks", "recover", "done", "give_back"))
