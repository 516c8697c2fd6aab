# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each command that a page shows is run by a test, or commands.yml says why none does; and each option that a page gives to a playbook is one of it."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
import sys
import typing as t

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
for folder in ("tests", "tests/tools"):
    sys.path.insert(0, str(ROOT / folder))

import suites  # noqa: E402  the folders of tests are no packages
from lab import page_commands  # noqa: E402

PAGES = page_commands.pages()
# How a reason for running nothing begins.
REASONS = (
    "needs AWX",
    "needs Azure",
    "needs Windows",
    "needs a package index",
    "needs an execution environment",
    "runs the tests",
    "sets a variable of the shell",
    "sets up the machine",
    "takes too long",
)
TYPED_AS_THEY_STAND = "tests/playbooks/test_documented_commands.py"
GIVEN_IN_TEXT = re.compile(r"`(ansible-playbook [^`]*)`")


def names_of_tests(path: pathlib.Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def problem(command: str, entry: dict[str, str]) -> str | None:
    """Return what is wrong with an entry, or None."""
    if set(entry) - {"command"} not in ({"test"}, {"suite"}, {"not_run"}):
        return "needs one of test, suite and not_run"
    if "not_run" in entry:
        reason, _mark, why = entry["not_run"].partition(": ")
        return None if reason in REASONS and len(why) > 10 else f"not_run must begin with one of {', '.join(REASONS)}, a colon, and say more"
    if "suite" in entry:
        known = {suite.name for suite in suites.test_suites() + suites.heavy_suites()}
        return None if entry["suite"] in known else "there is no such suite"
    file, _mark, name = entry["test"].partition("::")
    if not (ROOT / file).is_file() or name not in names_of_tests(ROOT / file):
        return f"there is no test {entry['test']}"
    playbook = re.search(r"ansible-playbook .*maintenance\.azure\.(\w+)", command)
    # A test of something else would not even name the playbook.
    if playbook and file != TYPED_AS_THEY_STAND and not re.search(rf"\b{playbook[1]}\b", (ROOT / file).read_text()):
        return f"{file} does not name {playbook[1]}"
    return None


def differences(page: str, shown: t.Sequence[str], entries: t.Sequence[dict[str, str]]) -> list[str]:
    """Return what the registry lacks of a page, and what it has beyond it."""
    listed = [entry["command"] for entry in entries]
    lacking = [f"{page} shows, and commands.yml lacks: {command}" for command in dict.fromkeys(shown) if command not in listed]
    beyond = [f"commands.yml has of {page}, which shows it no more, or has it twice: {one}" for one in listed if one not in shown or listed.count(one) > 1]
    return lacking + beyond


@pytest.mark.parametrize("page", PAGES)
def test_each_command_is_registered_and_no_other(page: str) -> None:
    shown = [page_commands.key(command) for command in page_commands.commands(page)]
    assert differences(page, shown, page_commands.registry().get(page, [])) == []


def test_each_entry_is_run_or_says_why_not() -> None:
    registry = page_commands.registry()
    assert set(registry) <= set(PAGES) and sum(map(len, registry.values())) > 140
    wrong = [f"{page}: {entry['command']}: {said}" for page, entries in registry.items() for entry in entries if (said := problem(entry["command"], entry))]
    assert wrong == []


def test_each_test_that_types_what_is_registered_has_commands() -> None:
    registered = {entry.get("test") for entries in page_commands.registry().values() for entry in entries}
    assert {f"{TYPED_AS_THEY_STAND}::{name}" for name in names_of_tests(ROOT / TYPED_AS_THEY_STAND)} <= registered


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"test": "tests/playbooks/test_report.py::test_nothing"}, "there is no test"),
        ({"test": "tests/nowhere.py::test_nothing"}, "there is no test"),
        ({"test": "tests/unit/docs/test_mechanisms.py::nothing"}, "there is no test"),
        ({"suite": "nothing"}, "there is no such suite"),
        ({"not_run": "later"}, "not_run must begin with"),
        ({"not_run": "needs Azure"}, "not_run must begin with"),
        ({"not_run": "needs Azure: no such", "suite": "drill"}, "needs one of"),
        ({}, "needs one of"),
        ({"test": "tests/unit/docs/test_pictures.py::test_no_picture_is_without_a_source"}, "does not name status"),
    ],
)
def test_a_wrong_entry_is_found(entry: dict[str, str], said: str) -> None:
    command = "ansible-playbook maintenance.azure.status"
    assert said in (problem(command, {"command": command, **entry}) or "")


def test_what_is_new_and_what_is_gone_is_found() -> None:
    page = "```console\n$ one --option \\\n    goes-on   # a comment\nits output\n$ two '\nmore'\n```\n\n```yaml\nno: command\n```\n"
    shown = [page_commands.key(command) for block in page_commands.blocks("x.md", page) for command in page_commands.split(block)]
    assert shown == ["one --option goes-on", "two ' more'"]
    assert differences("x.md", shown, [{"command": one} for one in shown]) == []
    assert "lacks: two ' more'" in differences("x.md", shown, [{"command": shown[0]}])[0]
    assert "no more" in differences("x.md", shown, [{"command": one} for one in (*shown, "three")])[0]
    block = "Text\n\n.. code-block:: console\n\n    cat <<END\n    $ text\n    END\n    three\n\nText\n"
    assert page_commands.split(page_commands.blocks("x.rst", block)[0]) == ["cat <<END\n$ text\nEND", "three"]


# Options of playbooks


def used_by(playbook: pathlib.Path) -> tuple[set[str], set[str]]:
    """Return the roles that a playbook uses, with those that they use themselves, and the entry points that it names."""
    roles: set[str] = set()
    entries = {"main", "playbook"}
    waiting = [playbook]
    while waiting:
        path = waiting.pop()
        text = path.read_text()
        if "playbooks" in path.parts:
            waiting += [path.parent / name for name in re.findall(r"(?:import_playbook|include_tasks): (\S+\.yml)$", text, re.MULTILINE)]
            entries |= set(re.findall(r"tasks_from: (\w+)\.yml", text))
        for role in set(re.findall(r"(?:name|role): maintenance\.azure\.(\w+)$", text, re.MULTILINE)) - roles:
            roles.add(role)
            waiting += (ROOT / "roles" / role / "tasks").rglob("*.yml")
    return roles, entries


def specified(roles: t.Iterable[str], entries: t.Container[str] | None = None) -> dict[str, dict[str, t.Any]]:
    """Return the options of roles with what is specified of each, of some of their entry points or of all."""
    found: dict[str, dict[str, t.Any]] = {}
    for role in roles:
        for entry, content in yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())["argument_specs"].items():
            # A drain method has options of its own, which are no variables.
            if entry in entries if entries is not None else not entry.startswith("method_"):
                found.update(content.get("options") or {})
    return found


@functools.lru_cache(maxsize=None)
def options_of(name: str) -> dict[str, dict[str, t.Any]]:
    """Return every option of a playbook of this collection."""
    roles, entries = used_by(ROOT / "playbooks" / f"{name}.yml")
    # The drill has the simulator started by tasks of its own.
    return specified(roles | ({"simulator"} if name.startswith("drill") else set()), entries)


EVERY_OPTION = set(specified(path.name for path in (ROOT / "roles").iterdir()))


def is_value(value: t.Any, option: dict[str, t.Any]) -> bool:
    """Return whether an option takes a value of the command line. Words in capitals stand for any."""
    if isinstance(value, str) and re.fullmatch(r"[A-Z_]+", value):
        return True
    if "choices" in option and option.get("type") != "list":
        return value in map(str, option["choices"])
    check = {"bool": r"(?i)true|false|yes|no", "int": r"-?\d+", "float": r"-?[\d.]+"}.get(option.get("type", "str"))
    return check is None or re.fullmatch(check, str(value)) is not None


def wrong_options(command: str) -> list[str]:
    """Return what a command gives to a playbook that has no such option, or a value that the option does not take."""
    wrong = []
    for words in page_commands.words(command):
        for name in [word.rpartition(".")[2] for word in words if word.startswith("maintenance.azure.")]:
            for one in [words[place + 1] for place, word in enumerate(words[:-1]) if word in ("-e", "--extra-vars")]:
                variables = yaml.safe_load(one) if one.startswith("{") else dict([one.split("=", 1)]) if "=" in one else {}
                wrong += [f"{variable} is no option of {name}" for variable in variables if variable not in options_of(name)]
                known = {variable: value for variable, value in variables.items() if variable in options_of(name)}
                wrong += [f"{variable} cannot be {value}" for variable, value in known.items() if not is_value(value, options_of(name)[variable])]
    return wrong


@pytest.mark.parametrize("page", PAGES)
def test_each_option_of_a_command_is_one_of_its_playbook(page: str) -> None:
    text = (ROOT / page).read_text().replace("``", "`")
    for command in [*page_commands.commands(page), *GIVEN_IN_TEXT.findall(text)]:
        assert wrong_options(command) == [], command
    # Alone in the text, an option is one of any role. A few are of the drill, of one method or of Ansible.
    others = {"drill_report", "ansible_python_interpreter", "method_haproxy"}
    assert {name for name in re.findall(r"-e ([a-z_]+)=", text) if name not in others} <= EVERY_OPTION


def test_a_misspelt_option_is_found() -> None:
    assert wrong_options("ansible-playbook -i inventory maintenance.azure.status -e status_event=c706") == ["status_event is no option of status"]
    assert wrong_options("ansible-playbook -i x maintenance.azure.gate -e gate_hosts=web1 -e 'status_hosts=a' && x") == ["status_hosts is no option of gate"]
    assert wrong_options('ansible-playbook maintenance.azure.respond -e \'{"respond_pause": {"who": "a"}}\'') == ["respond_pause is no option of respond"]
    assert wrong_options("ansible-playbook maintenance.azure.awx -e @awx.yml -e awx_state=absent --check") == []
    assert wrong_options("ansible-playbook maintenance.azure.decide -e decide_action=holds") == ["decide_action cannot be holds"]
    assert wrong_options("ansible-playbook maintenance.azure.respond -e respond_wait=1800") == ["respond_wait cannot be 1800"]
    assert {"drill_speed"} <= set(options_of("drill")) and {"upgrade_hosts", "gate_name", "respond_policy"} <= set(options_of("rolling_upgrade"))
