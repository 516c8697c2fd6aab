# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans, records and steps of a method that are broken on purpose: a balancer's backend would have too few servers, or one that waits stands in the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import method_actions
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import cluster_order
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import deadlines, intents
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.participant import Participant
from ansible_collections.maintenance.azure.tests.model.balancer_acts import Drain


def find_is_trusted(patch: pytest.MonkeyPatch) -> None:
    """What was answered before it was recorded counts when it is set, too."""

    def set_at_once(self: Drain) -> Any:
        yield "stop", self.event
        return True

    patch.setattr(Drain, "set", set_at_once)


def hold_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """A check says how the server is, and not who is left."""
    real = Drain.check

    def check(self: Drain) -> Any:
        answer, _hold = yield from real(self)
        return answer, False

    patch.setattr(Drain, "check", check)


def hold_keeps_no_approval(patch: pytest.MonkeyPatch) -> None:
    """A VM that should serve is drained all the same, and nothing keeps its event from being approved or puts it back."""
    patch.setattr(Participant, "should_serve", property(lambda self: False))


def away_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """Who is about to leave, for the same event or in another run, counts as serving."""
    patch.setattr(method_actions.MethodActions, "_away", lambda *given: ())


def leased_serve(patch: pytest.MonkeyPatch) -> None:
    """A neighbour that another run has leased counts as serving."""
    real = method_actions.MethodActions._away

    def away(self: Any, event_state: Any, participant: Any) -> Any:
        self._leased = []
        return real(self, event_state, participant)

    patch.setattr(method_actions.MethodActions, "_away", away)


def event_serves(patch: pytest.MonkeyPatch) -> None:
    """The other VMs of the same event count as serving."""
    real = method_actions.MethodActions._away

    def away(self: Any, event_state: Any, participant: Any) -> Any:
        return real(self, replace(event_state, participants=(participant,)), participant)

    patch.setattr(method_actions.MethodActions, "_away", away)


def all_begin_at_once(patch: pytest.MonkeyPatch) -> None:
    """The drains of one plan begin together, whatever they ask."""
    patch.setattr(cluster_order, "one_begins", lambda event_states, settings: list(event_states))


def who_waits_is_out(patch: pytest.MonkeyPatch) -> None:
    """A drain that waits takes its place."""
    patch.setattr(Record, "waits", property(lambda self: False))


def who_waits_goes_first(patch: pytest.MonkeyPatch) -> None:
    """Of events that want the last place the older one gets it, even where it only waits."""
    patch.setattr(Participant, "waits", property(lambda self: False))


def asked_all_the_time(patch: pytest.MonkeyPatch) -> None:
    """Between two questions its lease stays: for the other run the VM is as good as gone."""
    real = intents._ask

    def ask(participant: Participant, settings: Any, now: float) -> Participant:
        return real(replace(participant, host=replace(participant.host, drain_asked_at=None)), settings, now)

    patch.setattr(intents, "_ask", ask)


def found_has_begun(patch: pytest.MonkeyPatch) -> None:
    """What a run that was killed has only found counts as begun: it asks again beside a neighbour that begins."""
    patch.setattr(cluster_order, "_has_begun", lambda participant: participant.phase == "draining" and not participant.waits)


def others_begin_here(patch: pytest.MonkeyPatch) -> None:
    """A VM whose event is not for this run comes before those of this run's events."""
    real = cluster_order.one_begins

    def one_begins(event_states: Any, settings: Any) -> Any:
        ours = {one.key: one.ours for one in event_states}
        found = real([replace(one, ours=True) for one in event_states], settings)
        return [replace(one, ours=ours[one.key]) for one in found]

    patch.setattr(cluster_order, "one_begins", one_begins)


def time_runs(patch: pytest.MonkeyPatch) -> None:
    """The time limit of a drain begins when it begins to wait."""
    real = deadlines.deadline

    def deadline(participant: Participant, settings: Any, now: float, *, begins: bool) -> float:
        return real(participant, settings, now, begins=begins and participant.phase != "draining")

    patch.setattr(deadlines, "deadline", deadline)
