# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report: nothing that a VM or an event says becomes markup or another VM's, and what is unknown is called so. Hostile texts first."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._report import tables
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.lanes import WIDTH, draw
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.page import page
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.report import Answers, Report, Window, make, window
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._report.entries import COURSE, NOW, START, answer, at, entry, month

MARCH = window(None, None, "2026-03", NOW)
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "ul", "li", "section", "div", "span", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "br", "svg", "rect"),
}
HOSTILE = [
    "<script>alert(1)</script>",
    "</title></svg><img src=x onerror=alert(1)>",
    '" onload="alert(1)" x="',
    "'><b>",
    "{{ lookup('pipe', 'id') }}{% raw %}",
    "&lt;script&gt;&#0;",
    "]]><!--",
    "\u202eevil\u2066",
    "\x1b[2J\x00\r\n",
    "=HYPERLINK(1)",
    "x" * 1_000_000,
    "\ud800",
    "<" * 100_000,
]


class Strict(html.parser.HTMLParser):
    """Refuses what the template does not have: another element, an event handler, a link."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert not [name for name, _value in attrs if name.startswith("on") or name in ("href", "src", "xlink:href")]

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def checked(report: Report) -> str:
    """Return the page, which must be whole, small, and without anything that is not ours; and make the other forms."""
    found = page(report)
    Strict().feed(found)
    assert not re.search("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", found)
    assert len(found.encode()) < 5_000_000
    json.dumps(report)
    tables.as_csv(report).encode()
    assert all(line.isprintable() for line in tables.lines(report, [], []))
    return found


def report_of(*entries: dict[str, Any], chosen: Window = MARCH, **more: Any) -> Report:
    return make({"web1": Answers(answer(*entries), None)}, chosen, NOW, **more)


# --- Hostile -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_vm_or_an_event_becomes_markup(text: str) -> None:
    about = {"event_type": text, "event_source": text, "description": text, "resources": [text] * 100}
    found = entry(event=about)
    for where in (found, found["rule"], *found["methods"]):
        where.update({key: text for key in ("name", "id", "method", "error", "outcome", "reason", "vm_name") if key in where})
    for item in found["history"]:
        item["why"] = text
    found["event"].update({"event_id": text or "E1", **about})
    found["decision"] = {"action": "approve", "who": text, "why": text, "at": text}
    report = make(
        {"web1": Answers({**answer(found), "problems": [text]}, None), text: Answers({"failed": True, "msg": text}, {"failed": True, "msg": text})}, MARCH, NOW
    )
    assert len(report["events"]) == 1
    whole = checked(report)
    assert len(whole) < 200_000, "one VM's text fills no page"


@settings(max_examples=20, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
    )
)
def test_no_answer_of_any_kind_stops_a_report(value: Any) -> None:
    for key in ("entries", "problems", "now", "answered_at"):
        make({"web1": Answers({**answer(entry()), key: value}, value)}, MARCH, NOW)
    checked(report_of(*({**entry(f"E{number}"), key: value} for number, key in enumerate(entry()))))


FORMULAS = [
    "=1",
    "+1",
    "-1",
    "@x",
    " =1",
    "\t=1",
    "\u00a0=1",
    "x;=1",
    "x; =1",
    "x,=1",
    "x\t=1",
    '"=1',
    'x;"=1',
    "'=1",
    "x|@y",
    ";;=1",
    "\uff1d1",
    "x;\uff0b1",
]


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_no_cell_is_a_formula_whatever_a_spreadsheet_takes_for_a_separator(text: str, separator: str) -> None:
    report = report_of(entry(event={"event_type": text, "event_id": f"{text}2", "event_source": text}))
    report["events"][0]["vms"][0].update(reasons=[{"phase": text, "at": "", "why": text}], approved_by=text, event_source=text, rule=text)
    for row in csv.reader(io.StringIO(tables.as_csv(report)), delimiter=separator):
        for cell in row:
            assert cell.strip(' \t\u00a0"')[:1] not in set("=+-@\uff1d\uff0b\uff0d\uff20"), cell


def test_a_vm_speaks_for_its_own_part_alone() -> None:
    """It may claim the event of another, and a name that is not its own."""
    lie = entry(event={"event_type": "Freeze", "description": "lie"}, vm_name="web1", course=COURSE[:2])
    report = make({host: Answers(answer(lie if host == "evil" else entry()), None) for host in ("web1", "web2", "evil")}, MARCH, NOW)
    (event,) = report["events"]
    assert [part["vm"] for part in event["vms"]] == ["evil", "web1", "web2"]
    assert (event["event_type"], event["description"]) == ("Reboot", "Host maintenance") and "event_type" in event["differing"]
    assert [part["times"]["out_of_service_seconds"] for part in event["vms"]] == [None, 240.0, 240.0]
    assert "tell different things of it (event_type, description)" in checked(report)


def test_a_vm_with_thousands_of_events_hides_no_other() -> None:
    made_up = [entry(f"A{number}", begin=600 + number, event={"event_type": f"Kind{number}"}) for number in range(1200)]
    problems = [f"problem {number}" for number in range(9)]
    liars = {f"evil{number}": Answers(answer(*made_up[number::2], problems=problems), None) for number in range(2)}
    report = make({**liars, "web1": Answers(answer(entry("T1")), None)}, MARCH, NOW)
    report["vms"]["web1"]["problems"] = ["its disk is full"]
    lines = tables.lines(report, [], [])
    assert any(line.startswith("Reboot T1, times in UTC") for line in lines) and "web1: its disk is full" in lines
    whole = checked(report)
    assert "event T1," in whole and "1100 more events are in the JSON and the CSV." in whole and '<th scope="row">Reboot</th>' in whole
    assert re.search('aria-label="web1: recovered', whole), "its lane is drawn"
    assert whole.count('<section class="event">') == 101 and len(report["events"]) == 1201 == len(tables.as_csv(report).splitlines()) - 1
    alone = make({"evil": Answers(answer(*made_up), None)}, MARCH, NOW)
    assert checked(alone).count('<section class="event">') == 600


def test_what_many_vms_say_of_an_archive_stands_there_once() -> None:
    full = {"failed": True, "msg": "No space left on device."}
    lines = tables.lines(make({f"vm{number:03d}": Answers(answer(), full) for number in range(500)}, MARCH, NOW), [], [])
    assert lines[1:] == ["vm000, vm001, vm002, vm003, vm004, vm005 and 494 more: archive: No space left on device."]


def test_a_vm_that_answers_tens_of_thousands_of_entries_is_read_within_a_limit() -> None:
    short = {"format": 1, "event": {"event_id": "", "resources": []}, "phase": "noticed", "history": [], "methods": []}
    report = report_of(*({**short, "event": {**short["event"], "event_id": f"E{number}"}} for number in range(6000)))
    assert len(report["events"]) == 5000 and report["events"][0]["event_id"] != "E0"


def test_no_false_time_of_a_vm_hides_what_others_tell_of_the_same_event() -> None:
    lies = [{"phase": "noticed", "at": f"{1970 + year}-01-01T00:00:00.000000Z"} for year in range(30)] + [
        {"phase": "held", "at": "9999-12-01T00:00:00.000000Z"}
    ]
    lie = {**entry("T1"), "history": lies}
    others = {f"other{number}": Answers(answer(entry(f"O{number}", begin=-3600)), None) for number in range(10)}
    report = make({"evil": Answers(answer(lie), None), **others, "web1": Answers(answer(entry("T1")), None)}, MARCH, NOW)
    event = report["events"][0]
    assert (event["event_id"], event["begins"]) == ("T1", at(0)), "it is among the newest"
    drawn = draw(event, event["vms"])
    widths = [one.width for one in drawn.lanes[-1].bars if one.kind in ("draining", "started")]
    assert drawn.lanes[-1].name == "web1" and min(widths) > 4, widths
    made_up = [entry(f"M{number}", begin=-number * 31 * 86400) for number in range(400)]
    report = make({"evil": Answers(answer(*made_up), None), "web1": Answers(answer(entry("T1")), None)}, Window(0, NOW), NOW)
    assert page(report).count('<th scope="row">20') < 30


# --- What is told --------------------------------------------------------------------------------------------------------


def test_each_phase_duration_and_reason_is_there() -> None:
    (event,) = report_of(entry())["events"]
    (part,) = event["vms"]
    assert {phase: moment for phase, moment in part["times"]["phases"].items() if moment} == {phase: at(seconds) for phase, seconds in COURSE}
    assert (part["notice_given_seconds"], part["notice_used_seconds"]) == (900.0, 110.0)
    assert (part["times"]["drain_seconds"], part["times"]["impact_seconds"], part["times"]["out_of_service_seconds"]) == (40.0, 130.0, 240.0)
    assert part["reasons"] == [{"phase": "held", "at": at(5), "why": "capacity group web is full"}] and part["approved_by"] == "rule everything else"
    drawn = draw(event, event["vms"])
    assert [lane.name for lane in drawn.lanes] == ["Azure", "respond", "balancer", "web1"]
    kinds = [one.kind for one in drawn.lanes[-1].bars]
    assert kinds[:9] == [phase for phase, _seconds in COURSE] and kinds[9:] == ["draining", "drained", "recovering"] * 2
    assert any("capacity group web is full" in one.text for one in drawn.lanes[-1].bars)


def test_what_is_unknown_is_called_unknown_and_never_zero() -> None:
    """Of a VM whose records say little, of one that never drained, and of one whose clock was put back."""
    little = entry("E1", (("draining", 60),), event={"event_type": None})
    little["history"][0].pop("not_before")
    report = report_of(little, entry("E2", (("noticed", 0), ("started", 100))), entry("E3", (("draining", 60), ("recovered", 50))))
    parts = {event["event_id"]: event["vms"][0] for event in report["events"]}
    assert [parts[name]["times"]["out_of_service_seconds"] for name in ("E1", "E2", "E3")] == [None] * 3
    assert (parts["E1"]["notice_given_seconds"], parts["E1"]["event_type"]) == (None, "unknown type")
    (total,) = report["totals"]["all"]
    assert (total["drained"], total["out_of_service_seconds"], total["out_of_service_unknown"]) == (2, None, 2)
    text = " ".join(tables.lines(report, [], []))
    assert "out of service unknown" in text and " 0 s" not in text
    whole = checked(report)
    assert "out of service for unknown" in whole and ">0 s<" not in whole
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(report))))
    assert {row["out_of_service_seconds"] for row in rows} == {""}


def test_the_offset_of_a_clock_is_shown() -> None:
    report = make({"web1": Answers(answer(entry(), offset=93.04), None), "web2": Answers(None, None)}, MARCH, NOW)
    assert report["vms"]["web1"]["clock_offset_seconds"] == 93.0 and report["vms"]["web2"]["clock_offset_seconds"] is None
    assert "+93.0 s" in checked(report) and "unknown" in checked(report)


def test_an_operators_approval_and_one_that_we_did_not_make() -> None:
    by_hand = entry("E1", decision={"action": "approve", "who": "alice", "why": "now", "at": at(0), "vm": None, "until": None})
    other = entry("E2", (("noticed", 0), ("started", 100), ("gone", 200), ("recovered", 210)))
    approved = {event["event_id"]: event["vms"][0]["approved_by"] for event in report_of(by_hand, other)["events"]}
    assert approved == {"E1": "alice (override)", "E2": None}


def test_both_an_entry_and_its_copy_in_the_archive_are_one_event() -> None:
    old = {**entry(), "outcome": "unknown"}
    report = make({"web1": Answers(answer(entry()), answer(old, entry("E2")))}, MARCH, NOW)
    assert {event["event_id"]: (event["vms"][0]["archived"], event["outcome"]) for event in report["events"]} == {
        "E1": (False, "completed"),
        "E2": (True, "completed"),
    }
    assert report["vms"]["web1"]["archived_events"] == 1


def test_an_empty_month_is_a_report() -> None:
    report = make({"web1": Answers(answer(), None)}, MARCH, NOW)
    assert "No event in this time." in checked(report)
    assert tables.lines(report, [], []) == ["2026-03-01T00:00:00Z to 2026-04-01T00:00:00Z: no events; 1 of 1 VMs answered."]
    assert "as far as the VMs that answered" in checked(make({"web1": Answers(None, None)}, MARCH, NOW))


def test_totals_by_month_vm_and_type() -> None:
    answers = {"web1": Answers(answer(entry(), entry("E2", event={"event_type": "Freeze"})), None), "web2": Answers(answer(entry()), None)}
    totals = make(answers, MARCH, NOW)["totals"]
    assert {one["name"]: (one["events"], one["parts"], one["out_of_service_seconds"]) for one in totals["vm"]} == {"web1": (2, 2, 480.0), "web2": (1, 1, 240.0)}
    assert {one["name"]: one["events"] for one in totals["type"]} == {"Freeze": 1, "Reboot": 1}
    assert [(one["name"], one["events"], one["parts"]) for one in totals["month"]] == [("2026-03", 2, 3)]


# --- Which time ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("since", "until", "of_month", "begin", "end"),
    [
        ("", "", "2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("", "", "2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2026-03-01", "", "", "2026-03-01T00:00:00Z", timestamps.to_the_second(NOW)),
        ("2026-03-01T12:00:00+02:00", "2026-03-02", "", "2026-03-01T10:00:00Z", "2026-03-02T00:00:00Z"),
        (None, None, None, timestamps.to_the_second(NOW - 31 * 86400), timestamps.to_the_second(NOW)),
    ],
)
def test_a_time_is_a_month_or_from_one_time_until_another(since: Any, until: Any, of_month: Any, begin: str, end: str) -> None:
    found = window(since, until, of_month, NOW)
    assert tuple(map(timestamps.to_the_second, found[:2])) == (begin, end)


def test_a_vm_whose_clock_is_hours_ahead_has_its_events_unless_an_end_is_asked_for() -> None:
    answers = {"web1": Answers(answer(entry("E1", begin=NOW - START + 4 * 3600), offset=5 * 3600), None)}
    for until, events in (("", 1), (None, 1), (timestamps.form(NOW), 0)):
        report = make(answers, window("", until, "", NOW), NOW)
        assert len(report["events"]) == events
        assert tables.lines(report, [], [])[-1] == "web1: the clock is 5 h 00 min ahead of this machine's, and the times above are by that clock."


@pytest.mark.parametrize("given", [("", "", "2026-00"), ("", "", "March"), ("x", "", ""), ("", "soon", ""), ("2027-01-01", "", ""), ([], {"a": 1}, "2026-3")])
def test_a_time_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(WrongInput, match="report_"):
        window(*given, NOW)


def test_only_events_of_the_time_and_of_the_id_are_in_it() -> None:
    answers = [entry("AAA"), entry("BBB", begin=40 * 86400), entry("aab")]
    assert [event["event_id"] for event in report_of(*answers)["events"]] == ["aab", "AAA"]
    assert [event["event_id"] for event in report_of(*answers, event_id="aaa")["events"]] == ["AAA"]


# --- Drawings and sizes --------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([phase for phase, _at in COURSE]), st.integers(0, 10**7)), min_size=1, max_size=20))
def test_every_bar_lies_within_its_lane(course: list[tuple[str, int]]) -> None:
    report = report_of(entry("E1", tuple(course)), chosen=Window(0, START * 2))
    for event in report["events"]:
        drawn = draw(event, event["vms"])
        for lane in drawn.lanes:
            for one in lane.bars:
                assert 0 <= one.x <= WIDTH and one.width > 0 and one.x + one.width <= WIDTH + 0.11 and one.y + one.height <= lane.height
        assert all(0 <= place <= 100 for place, _text in drawn.ticks)
    checked(report)


def test_minutes_are_seen_beside_days_of_notice() -> None:
    long = tuple((phase, seconds + (5 * 86400 if seconds else 0)) for phase, seconds in COURSE)
    (event,) = report_of(entry("E1", long))["events"]
    drawn = draw(event, event["vms"])
    assert not drawn.even and "are drawn shorter" in page(report_of(entry("E1", long)))
    assert min(one.width for one in drawn.lanes[-1].bars if one.kind == "draining") > 5


def test_a_month_of_500_vms_is_below_5_mb_and_made_within_seconds() -> None:
    began = time.monotonic()
    report = make(month(), MARCH, NOW)
    whole = checked(report)
    assert len(report["events"]) == 250 and time.monotonic() - began < 30
    assert len(whole.encode()) > 500_000 and whole.count('class="lane"') > 1400
    checked(make(month(events_each=6), MARCH, NOW))


def test_one_event_of_500_vms_is_drawn_a_few_at_once_and_all_in_the_table() -> None:
    answers = {f"web{number}": Answers(answer(entry()), None) for number in range(500)}
    whole = checked(make(answers, MARCH, NOW))
    assert "488 VMs more" in whole and whole.count('<th scope="row">web499</th>') == 3


def test_a_spreadsheet_takes_no_cell_for_a_formula() -> None:
    report = report_of(entry(event={"event_type": "=cmd|' /C calc'!A1", "event_source": "+1"}))
    (row,) = csv.DictReader(io.StringIO(tables.as_csv(report)))
    assert row["event_type"].startswith("'=") and row["event_source"] == "'+1"


def test_a_short_form_names_the_newest_and_where_the_rest_is() -> None:
    report = report_of(*(entry(f"E{number}", begin=number) for number in range(14)))
    lines = tables.lines(report, [], ["Written: /srv/report.html"])
    assert sum("times in UTC" in line for line in lines) == 10 and "4 events more: report_file writes all of them." in lines
    assert lines[-1] == "Written: /srv/report.html" and "web1: 14 events, out of service 56 min." in lines
    assert "notice given 15 min, used 110 s" in lines[1]
