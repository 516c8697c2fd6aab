# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What respond, and a gate, print with the default callback of ansible-core: a line for each host and module run, and few others. Failures first."""

from __future__ import annotations

import json
import re
import typing as t

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]
ROLE = "maintenance.azure.respond : "
# The heading of a meta task has no line. One VM without an action leaves the loop alone; the play of the loop ends for all others at once.
LEAVING = f"{ROLE}End | The loop"
ENDING = f"{ROLE}End | The play of the loop"
ACTING = f"{ROLE}Act | On the VM"
OBSERVING = [f"{ROLE}Observe | Check the settings", ACTING, f"{ROLE}Plan | What each VM does next"]
REPORTING = [f"{ROLE}Report | Set respond_plan", f"{ROLE}Report | What happened and what comes next", f"{ROLE}Report | Check that nothing failed"]
ITERATING = [
    f"{ROLE}Iteration | Act or wait, and observe",
    f"{ROLE}Pause | Report for what",
    f"{ROLE}Pause | Until the next observation is due",
]
COMMAND = {"method": "command", "begin": "true", "check": "true", "undo": "true"}


@pytest.fixture(autouse=True)
def _default_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", "default")
    monkeypatch.setenv("ANSIBLE_SHOW_CUSTOM_STATS", "true")


def tasks(output: str) -> list[tuple[str, list[str]]]:
    """Return the heading of each task with the lines of its results: a result that is shown in full counts as one line."""
    found: list[tuple[str, list[str]]] = []
    for line in output.partition("PLAY RECAP")[0].splitlines():
        if heading := re.match(r"TASK \[(.*)\] \*", line):
            found.append((heading[1], []))
        elif found and re.match(r"\w+: ", line) and line != "skipping: no hosts matched":  # that is a play's
            found[-1][1].append(line)
    return found


def statistics(output: str) -> dict[str, t.Any]:
    """Return what a workflow reads."""
    shown: dict[str, dict[str, t.Any]] = json.loads(output.partition("\tRUN: ")[2].splitlines()[0])
    return shown["respond_stats"]


def skipped(output: str) -> set[str]:
    """Return the tasks that any VM has skipped."""
    return {heading for heading, lines in tasks(output) if any(line.startswith("skipping: [") for line in lines)}


def headings(output: str) -> list[str]:
    return [heading for heading, _lines in tasks(output)]


def test_a_run_that_fails_says_what_happened_and_then_why(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.hosts["web2"]["respond_endpoint"] = "http://127.0.0.1:9"
    output = lab.respond(code=2, respond_min_answered=1)
    assert headings(output)[-3:] == REPORTING
    assert "1 of 2 VMs answered; no events." in output
    assert all(lines for _heading, lines in tasks(output)[-3:])
    assert statistics(output)["vms_failed"] == 1


def test_an_idle_run_and_one_in_check_mode_are_short(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2", "web3"])
    idle = lab.respond()
    assert headings(idle) == [*OBSERVING, *REPORTING]
    assert statistics(idle)["next_look_in"] is None or statistics(idle)["next_look_in"] > 0
    event = lab.simulator.event("Freeze", lab.vms, notice=36000, duration_in_seconds=60)
    checked = lab.respond("--check")
    assert headings(checked)[: len(OBSERVING)] == OBSERVING and headings(checked)[-len(REPORTING) :] == REPORTING
    for words in (f"Would drain for event {event}: Freeze", f"Would drain for event {event}: 1-probe_file", "1-probe_file: would take "):
        assert [checked.count(f"{vm}: {words}") for vm in lab.vms] == [1, 1, 1], (words, checked)
    assert statistics(checked)["actions"] > 0
    assert [(lab.records(vm), lab.flag(vm).read_text()) for vm in lab.vms] == [([], "yes\n")] * 3 and lab.simulator.approvals() == []
    assert not skipped(idle)
    assert all(lines for _heading, lines in tasks(idle))


def test_check_mode_is_red_where_a_drain_would_be_refused(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.hosts["web2"]["drain_methods"] = [{"method": "service", "names": ["no-such.service"]}]
    lab.simulator.event("Freeze", lab.vms, notice=36000, duration_in_seconds=60)
    checked = lab.respond("--check", code=2)
    assert "web2: its drain would be refused: 1-service: " in checked and "1-probe_file: would " in checked
    assert [lab.records(vm) for vm in lab.vms] == [[], []]


def test_what_only_shows_has_the_statistics_without_a_task_that_sets_them(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    event = lab.simulator.event("Freeze", ["web1"], notice=36000, duration_in_seconds=60)
    shown = lab.status()
    assert all(lines for _heading, lines in tasks(shown)), "headings without a result, below the state"
    decided = lab.play("maintenance.azure.decide", decide_event_id=event, decide_action="hold", decide_who="alice", decide_why="release night")
    assert (statistics(shown)["noticed"], statistics(shown)["held"]) == (1, 0)
    assert (statistics(decided)["noticed"], statistics(decided)["held"]) == (0, 1), "those of the plan with the override"


def test_an_event_prints_a_line_for_each_host_and_module_run(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2", "web3", "idle"], 20)
    hit = ["web1", "web2", "web3"]
    for name in hit:
        lab.hosts[name]["drain_methods"] = [COMMAND]
    # Drained otherwise, it stands in for none of them, and takes no part.
    lab.hosts["idle"]["drain_methods"] = [{"method": "none"}]
    event = lab.simulator.event("Freeze", hit, notice=36000, duration_in_seconds=60, approvals="one", started_seconds=36000)
    outputs = [lab.respond()]
    lab.simulator.ask("POST", f"/events/{event}/finish")
    while {lab.phases(vm)[-1] for vm in hit} != {"recovered"}:
        outputs.append(lab.respond())
    for output in outputs:
        found = tasks(output)
        assert {heading for heading, _lines in found} <= {*OBSERVING, *ITERATING, LEAVING, ENDING, *REPORTING}
        assert not skipped(output)
        # Hosts without an action print nothing.
        assert [heading for heading, lines in found if not lines] == [LEAVING, ENDING]
        acted = [line for heading, lines in found for line in lines if heading == ACTING]
        others = [line for heading, lines in found for line in lines if heading != ACTING]
        assert all(re.match(r"(ok|changed): \[\w+\]$", line) for line in acted)
        assert len(others) <= 2 * len([heading for heading, lines in found if lines]), "a task that runs no module has a line for each host"


def test_a_gate_chooses_files_where_each_vm_would_skip_tasks(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    output = lab.play("maintenance.azure.gate", gate_hosts="web1,web2")
    found = tasks(output)
    # Without a capacity group there are no other members, and without a name of an upgrade there is no progress mark.
    every = {heading for heading, lines in found if lines and all(line.startswith("skipping:") for line in lines)}
    assert {heading for heading in every if " : " in heading} == {
        "maintenance.azure.gate : Record that the upgrade begins",
        f"{ROLE}Observe | The other members of its capacity groups",
    }
    assert [heading for heading, _lines in found if heading.startswith("maintenance.azure.gate : Reported")] == [
        "maintenance.azure.gate : Reported | That the gate is open, or that nothing is left to do"
    ]
    assert "The gate is open for web1, web2 (run " in output
