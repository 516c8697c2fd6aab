# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any history that one VM returns: what is reported of the others is the same, byte for byte, and nothing stops the report."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.plugin_utils._report import tables
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.lanes import draw
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.page import page
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.report import Answers, Report, make
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._report.entries import COURSE, NOW, START, answer, at, entry
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._report.test_report import MARCH, checked

LIMITS = settings(max_examples=120, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
ODD: Any = (
    *(None, True, False, 0, -1, 1e308, float("inf"), float("nan"), 10**39, 10**400, -(10**400), 1e-320, "", " ", [], {}, {"": 1}, ["x"] * 300),
    *("\ud800", "\u202eE1", "e1 ", "\x00", "x" * 5000, "9" * 500, "1e309", "NaN", "\u0661\u0662", "0x10", "recovered", "noticed", [[[[[[[]]]]]]]),
    *("9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "20260303", "2026-W10-2"),
    *(at(0), at(-1e11), at(1e12), {"phase": "held", "at": at(0), "why": "x"}, [{"phase": "recovered", "at": at(400)}] * 300),
    [{"phase": "noticed", "at": at(-1e9 * number)} for number in range(60)],
)
SHARED, OWN = ("E1", "A1", "e1 "), ("X1", "X2", "A1x")


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the ways to each value within a value."""
    if way:
        yield way
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*way, key))


def twisted(dice: random.Random, value: Any, kept: tuple[Any, ...] = ()) -> Any:
    """Replace or remove a few of the values within a value, but none on the way to one that is kept."""
    for _twice in range(dice.randint(0, 3)):
        way = dice.choice([one for one in places(value) if one != kept[: len(one)]])
        inner = value
        for key in way[:-1]:
            inner = inner[key]
        if dice.random() < 0.1:
            inner.pop(way[-1])
        else:
            inner[way[-1]] = copy.deepcopy(dice.choice(ODD))
    return value


def others() -> dict[str, Answers]:
    two = {"resources": ["web1", "web2"]}
    return {
        "web1": Answers(answer(entry("E1", event=two), entry("A1")), answer(entry("B1", begin=-9000), entry("A1"))),
        "web2": Answers(answer(entry("E1", begin=3, event=two), offset=0.5, problems=["a file is damaged"]), None),
    }


def among(dice: random.Random, liar: Answers) -> dict[str, Answers]:
    """Return the answers with those of one more VM, before or after the others."""
    return {"evil": liar, **others()} if dice.random() < 0.5 else {**others(), "evil": liar}


def of_others(report: Report) -> str:
    """Return what a report has of each other VM by itself: its parts, its sums, its answers, and its rows for a spreadsheet."""
    parts = sorted((part["event_id"], part["vm"], json.dumps(part)) for event in report["events"] for part in event["vms"] if part["vm"] != "evil")
    sums = [total for total in report["totals"]["vm"] if total["name"] != "evil"]
    rows = sorted(line for line in tables.as_csv(report).splitlines() if ",evil," not in line and re.match("[EAB]1,", line))
    return json.dumps([parts, sums, {host: vm for host, vm in report["vms"].items() if host != "evil"}, rows])


def sections(whole: str) -> list[str]:
    """Return the parts of a page that are about the events of the others alone."""
    return [found for found in re.findall('<section class="event">.*?</section>', whole, re.DOTALL) if re.search("event [EAB]1,", found)]


ALONE = make(others(), MARCH, NOW)


@LIMITS
@given(some.integers(0, 2**32))
def test_whatever_a_vm_returns_each_other_vm_has_the_same_report(seed: int) -> None:
    dice = random.Random(seed)
    own: Any = twisted(dice, answer(*(twisted(dice, entry(dice.choice((*SHARED, *OWN)))) for _number in range(dice.randint(1, 3)))))
    archived: Any = dice.choice((None, {"failed": True, "msg": "x"}, twisted(dice, answer(twisted(dice, entry(dice.choice(SHARED)))))))
    report = make(among(dice, Answers(own, archived)), MARCH, NOW)
    checked(report)
    json.dumps(report, allow_nan=False)
    assert of_others(report) == of_others(ALONE)


@LIMITS
@given(some.integers(0, 2**32))
def test_a_vm_with_events_of_its_own_changes_no_section_and_no_line_of_others(seed: int) -> None:
    dice = random.Random(seed)
    lies = [twisted(dice, entry(f"X{number}", begin=dice.choice((0, -1e6, 1e6))), ("event", "event_id")) for number in range(dice.randint(1, 60))]
    report = make(among(dice, Answers(answer(*lies), None)), MARCH, NOW)
    assert [event for event in report["events"] if event["event_id"][0] != "X"] == ALONE["events"]
    assert sections(page(report)) == sections(page(ALONE)) != []
    mine = [line for line in tables.lines(ALONE, [], [])[1:] if not line.startswith("VM ")]
    assert set(mine) <= set(tables.lines(report, [], [])), "each line of the others is there, the table's padding aside"


def test_no_vm_puts_old_events_of_another_before_its_newest() -> None:
    """It takes part in events that it is not hit by, and says that they have just begun."""
    true = [entry(f"T{number:02}", begin=number * 3600) for number in range(20)]
    lies = [entry(f"T{number:02}", begin=86000 - number) for number in range(15)]
    found = "\n".join(tables.lines(make({"web1": Answers(answer(*true), None), "zeus": Answers(answer(*lies), None)}, MARCH, NOW), [], []))
    assert all(f" T{number}, times in UTC" in found for number in (16, 17, 18, 19)), found


def test_lines_say_that_the_vms_of_an_event_tell_different_things() -> None:
    lie = entry(event={"event_type": "Freeze"})
    lines = tables.lines(make({"evil": Answers(answer(lie), None), "web1": Answers(answer(entry()), None)}, MARCH, NOW), [], [])
    assert any("its VMs tell different things of it (event_type)" in line for line in lines)


def test_times_of_other_days_leave_the_bars_of_others_their_width() -> None:
    for step in (86400 * 365.0, 86400.0, 3600.0):
        course = [{"phase": "noticed", "at": at(number * step - 10)} for number in range(60)]
        report = make({"evil": Answers(answer({**entry("T1"), "history": course}), None), "web1": Answers(answer(entry("T1")), None)}, MARCH, NOW)
        (event,) = report["events"]
        lane = draw(event, event["vms"]).lanes[-1]
        assert lane.name == "web1" and max(one.x for one in lane.bars) - min(one.x for one in lane.bars) > 40, (step, lane)


def test_when_an_event_started_and_ended_is_what_most_of_its_vms_tell() -> None:
    lies = tuple((phase, {"started": -4000, "gone": 9000}.get(phase, seconds)) for phase, seconds in COURSE)
    vms = {"evil": lies, "web1": COURSE, "web2": COURSE}
    (event,) = make({host: Answers(answer(entry("T1", course)), None) for host, course in vms.items()}, MARCH, NOW)["events"]
    azure = draw(event, event["vms"]).lanes[0]
    assert "started 14:02:10, gone 14:04:20" in azure.text and START == 1772546400.0


def test_who_approved_is_told_as_the_word_of_a_vm() -> None:
    decision = {"action": "approve", "who": "carol", "why": "x", "at": at(100), "until": at(9999)}
    lie = Answers(answer(entry("T1", decision=decision)), None)
    (event,) = make({"evil": lie, "web1": Answers(answer(entry("T1")), None)}, MARCH, NOW)["events"]
    assert "by carol (override), says evil" in draw(event, event["vms"]).lanes[1].text
