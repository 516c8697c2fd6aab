# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both clocks, and that a scenario is the same on either of them at any speed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from imds_simulator.clock import Clock, RealClock, VirtualClock, parse_iso
from imds_simulator.scenarios import scenarios
from imds_simulator.vm import Vm
from simulator_bench import START, Bench


class SteppedLoop:
    """The parts of an event loop that a real clock uses, with a time that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.planned: Any = None

    def time(self) -> float:
        return self.now

    def call_at(self, moment: float, action: Any) -> SteppedLoop:
        self.planned = (moment, action)
        return self

    def cancel(self) -> None:
        self.planned = None

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.planned is not None and self.planned[0] <= end:
            # Slightly late, as a real loop is.
            self.now, (_moment, action), self.planned = max(self.now, self.planned[0]) + 1e-7, self.planned, None
            action()
        self.now = end


def test_timers_fire_in_order_at_their_own_moment_also_those_added_on_the_way() -> None:
    clock, seen = VirtualClock(START), []
    clock.call_later(20, lambda: seen.append(("late", clock.now())))
    clock.call_later(10, lambda: (seen.append(("early", clock.now())), clock.call_later(5, lambda: seen.append(("added", clock.now())))))
    clock.call_later(12, lambda: seen.append(("never", clock.now()))).cancel()
    clock.advance(100)
    assert seen == [("early", 10), ("added", 15), ("late", 20)]
    assert (clock.now(), clock.date_of(clock.now())) == (100, START + 100)


def test_time_does_not_go_back() -> None:
    clock = VirtualClock(START)
    clock.advance(-5)
    assert clock.now() == 0


def test_a_fast_clock_states_real_dates() -> None:
    loop = SteppedLoop()
    clock = RealClock(60, loop)  # type: ignore[arg-type]
    loop.now += 2
    assert clock.now() == pytest.approx(120)
    # Fifteen simulated minutes are fifteen real seconds.
    assert clock.date_of(clock.now() + 900) == pytest.approx(time.time() + 15, abs=0.5)
    assert clock.moment_of(time.time() + 15) == pytest.approx(clock.now() + 900, abs=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2021-03-29T06:40:00Z", START), ("2021-03-29T08:40:00+02:00", START), ("2021-03-29 06:40:00", START)],
)
def test_dates_of_the_command_line(text: str, expected: int) -> None:
    assert parse_iso(text) == expected


def _life(name: str, clock: Any, go_on: Any) -> list[tuple[str, int, str]]:
    """Return the transitions of a scenario without clients, with their times in whole seconds."""
    scenario = scenarios.load(name)
    bench = Bench(*[Vm(**entry) for entry in scenario["vms"]], clock=clock)
    played = scenarios.play(bench.simulator, scenario)
    go_on()
    labels = {event_id: label for label, event_id in played["events"].items()}
    log = [(entry["transition"], round(entry["at"]), labels[entry["event_id"]]) for entry in bench.simulator.recorder.log()]
    bench.close()
    return log


@pytest.mark.parametrize("name", scenarios.names())
def test_a_scenario_is_the_same_stepped_at_once_and_on_real_clocks(name: str) -> None:
    whole, stepped = VirtualClock(START), VirtualClock(START)
    slow_loop, fast_loop = SteppedLoop(), SteppedLoop()
    slow, fast = RealClock(1, slow_loop), RealClock(60, fast_loop)  # type: ignore[arg-type]
    length = 180000

    def in_steps() -> None:
        for _step in range(600):
            stepped.advance(length / 600)

    lives = [
        _life(name, whole, lambda: whole.advance(length)),
        _life(name, stepped, in_steps),
        _life(name, slow, lambda: slow_loop.run(length)),
        _life(name, fast, lambda: fast_loop.run(length / 60)),
    ]
    assert lives[0] or name == "quiet"
    assert lives[1:] == lives[:1] * 3


@pytest.mark.parametrize("forgotten", ["now", "date_of", "moment_of", "_planned"])
def test_a_clock_without_one_of_its_functions_is_not_made(forgotten: str) -> None:
    every = {name: getattr(VirtualClock, name) for name in ("now", "date_of", "moment_of", "_planned")}
    assert type("Whole", (Clock,), every)()
    with pytest.raises(TypeError, match=forgotten):
        type("Partial", (Clock,), {name: function for name, function in every.items() if name != forgotten})()
