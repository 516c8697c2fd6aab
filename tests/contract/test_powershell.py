# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""There is no PowerShell here to run them: so each text must parse, and hold only what was looked up in Microsoft's documentation."""

from __future__ import annotations

import ast
import re
import sys
import typing as t
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import powershell  # noqa: E402  the folder of tests is no package

TEXTS = powershell.texts()
BROKEN = {
    "a quote": ("$x = 'a", "no PowerShell"),
    "a brace": ("Get-ClusterNode | ForEach-Object -Process { $_.Name", "no PowerShell"),
    "a bracket": ("param([string]$Node\nGet-Cluster", "no PowerShell"),
    "an unlisted parameter": ("Suspend-ClusterNode -Name $Node -Drain -ForceDrain", "Suspend-ClusterNode -ForceDrain is not listed"),
    "a parameter with a colon": ("Suspend-ClusterNode -Name $Node -Wait:$true", "Suspend-ClusterNode -Wait is not listed"),
    "an unlisted cmdlet": ("Stop-Computer -Force", "Stop-Computer is not listed"),
    "an alias": ("Get-ClusterNode | ? { $_.State }", "is not listed"),
    "text that is run": ("iex $Node", "iex is not listed"),
    "a call of what a variable holds": ("& $Node", "$Node is not listed"),
    "a variable without a parameter": ("Get-ClusterNode $Node", "is given $Node without a parameter"),
    "a word after a switch": ("Suspend-ClusterNode -Drain web1", "is given web1 without a parameter"),
    "a word without a parameter": ("Suspend-ClusterNode web1 -Drain", "is given web1 without a parameter"),
    "a variable in a text": ('Get-CimInstance -ClassName "$Name"', "text with variables in it"),
    "an unlisted method": ("$Node.Delete()", "method $Node.Delete() is not listed"),
    "an unlisted static method": ("[IO.File]::Delete('x')", "is not listed"),
    "an unlisted static member": ("$x = [Environment]::MachineName", "is not listed"),
}


def test_there_are_texts() -> None:
    assert len(TEXTS) >= 7


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_text(text: powershell.Text) -> None:
    assert powershell.problems(text.script) == []
    # Nothing that Ansible would put something into, and no more than a person reads at a glance.
    assert not re.search(r"\{\{|\{%|\{#", text.script)
    assert len(text.script.splitlines()) <= 6


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_the_page_is_named_beside_it(text: powershell.Text) -> None:
    specific = {name: page for name, (_parameters, page) in powershell.CMDLETS.items() if name.split("-")[1].startswith(("Cluster", "Net", "Sql", "Cim"))}
    specific["Invoke-Sqlcmd"] = powershell.CMDLETS["Invoke-Sqlcmd"][1]
    if text.name == "FAILOVER_SCRIPT":
        specific["Invoke-Sqlcmd"] = "sql/database-engine/availability-groups/windows/perform-a-planned-manual-failover-of-an-availability-group-sql-server"
    used = [page for name, page in specific.items() if re.search(rf"\b{name}\b", text.script)]
    assert used, "which cmdlet is this text for?"
    for page in used:
        assert powershell.LEARN + page in text.pages, f"{text.name} does not name {page}"


def test_every_listed_cmdlet_and_parameter_is_used() -> None:
    everything = "\n".join(text.script for text in TEXTS)
    for name, (parameters, _page) in powershell.CMDLETS.items():
        assert re.search(rf"\b{name}\b", everything), name
        assert [one for one in parameters if not re.search(rf"\b{name}\b[^|\n]* -{one}\b", everything)] == [], name


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_broken_is_caught(case: str) -> None:
    script, expected = BROKEN[case]
    found = powershell.problems(script)
    assert any(expected in problem for problem in found), found


def test_calls_take_their_text_from_the_list() -> None:
    """And what they are told comes by parameters, which PowerShell binds: never by a text that is put together."""
    calls = powershell.calls_of("win_powershell")
    assert {ast.unparse(arguments["script"]) for _place, arguments in calls} == {text.name for text in TEXTS}
    for place, arguments in calls:
        assert set(arguments) <= {"script", "parameters", "error_action"} and ast.literal_eval(arguments["error_action"]) == "stop", place
        (text,) = [text for text in TEXTS if text.name == ast.unparse(arguments["script"])]
        assert powershell.keys_of(place, arguments) == parameters_of(text), place


def parameters_of(text: powershell.Text) -> set[str]:
    return set(re.findall(r"\$(\w+)", text.script.splitlines()[0])) if text.script.startswith("param(") else set()


def test_no_other_way_to_run_something() -> None:
    for module in ("win_powershell", "win_shell", "win_package", "win_dsc"):
        assert powershell.tasks_of(f"ansible.windows.{module}") == []


def test_programs_of_tasks() -> None:
    seen = set()
    for place, arguments in powershell.tasks_of("ansible.windows.win_command"):
        assert place.startswith("roles/watch/"), place
        line = arguments["cmd"] if "cmd" in arguments else arguments["argv"][0]
        seen |= {program for program in powershell.TASK_PROGRAMS if line.startswith(program)}
        assert line.startswith(tuple(powershell.TASK_PROGRAMS)), f"{place}: {line}"
        assert "powershell" not in line.lower(), f"{place}: only the line of rights.py asks PowerShell something"
    assert seen == set(powershell.TASK_PROGRAMS)


def test_command_lines() -> None:
    """Of drain methods; those of the records are in test_cmd_in_wine.py. Method command runs what the user says."""
    seen = set()
    for place, arguments in powershell.calls_of("win_command"):
        path = place.partition(":")[0]
        if "/machine/" not in path or path.endswith("commands.py"):
            continue
        if "cmd" in arguments:
            line = ast.literal_eval(powershell.constants(powershell.ROOT / path)[ast.unparse(arguments["cmd"]).partition(".format(")[0]])
        else:
            line = ast.literal_eval(t.cast("ast.List", arguments["argv"]).elts[0])
        seen |= {begin for begin in powershell.COMMANDS if line.startswith(begin)}
        assert line.startswith(tuple(powershell.COMMANDS)), f"{place}: {line}"
    assert seen == set(powershell.COMMANDS)
