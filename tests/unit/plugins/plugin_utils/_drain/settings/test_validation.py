# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that cannot be right are named before anything is done; whatever they are, nothing is raised."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS
from ansible_collections.maintenance.azure.plugins.plugin_utils._core import modules
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import validation

KINDS = ", ".join(validation.catalogue.built_in("linux"))
REPOSITORY = pathlib.Path(__file__).resolve().parents[6]
ROLE = REPOSITORY / "roles" / "drain" / "tasks" / "methods"
COMMAND = {"method": "command", "begin": "b", "check": ["c"], "undo": "u"}


def problems(*methods: Any, former: Any = (), system: str = "linux", **keys: Any) -> list[str]:
    return validation.problems(list(methods), former, system, **{"folders": [str(ROLE)], **keys})


@pytest.mark.parametrize("methods", [[], (), None, "", "none", {}, {"method": "none"}, 5, True])
def test_what_is_no_list_or_empty_is_no_drain(methods: Any) -> None:
    (said,) = validation.problems(methods, [], "linux")
    assert said.startswith("drain_methods must be a list with at least one method") and "[{method: none}]" in said


def test_a_list_that_came_as_text_is_called_so() -> None:
    (said,) = validation.problems('[{"method": "none"}]', [], "linux")
    assert said.startswith('drain_methods must be a list with at least one method, and is text (JSON?): [{"method": "none"}].')


@pytest.mark.parametrize(
    "entry",
    [
        {"method": "none"},
        {"method": "none", "name": "a-b_1", "outside": "yes"},
        {"method": "service", "names": ["a.service"]},
        COMMAND,
        {**COMMAND, "timeout": "20"},
        {**COMMAND, "timeout": 20, "outside": True},
        {"method": "probe_file", "path": "/x"},
        {"method": "probe_file", "path": "/x", "present_means": "out", "interval": 0, "threshold": "3", "ports": [443, "8080"], "mode": "0600"},
        {"method": "probe_file", "path": "/x", "ports": []},
        {"method": "haproxy", "balancers": ["lb1"]},
        {**COMMAND, "begin": ["echo", ">", "x"], "check": "test 'a' '>' b", "undo": r"x a>b '&&' \| it\'s"},
        {**COMMAND, "begin": "cmd.exe /c dir & exit 0", "check": r"C:\Windows\PowerShell.EXE -Command a | b"},
    ],
)
def test_what_is_right_has_no_problems(entry: dict[str, Any]) -> None:
    assert problems(entry) == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, f"drain_methods, entry 1: method must be {KINDS}."),
        ("none", "entry 1: method must be"),
        ({"method": "teleport"}, "entry 1 (teleport): method must be"),
        ({"method": "../none"}, "method must be"),
        ({"method": "none\n"}, "method must be"),
        ({"method": "iis"}, "method must be"),
        ({"method": ["none"]}, "method must be"),
        ({"method": "none", "outside": "perhaps"}, "outside is wrong: perhaps. It must be: true (it changes something outside the VM) or false."),
        ({"method": "none", "outside": None}, "outside is wrong"),
        ({"method": "none", "level": 1}, "there is no option level. Options: none."),
        ({**COMMAND, "clustre": "a"}, "there is no option clustre (did you mean cluster?). Options: begin, check, undo, timeout."),
        ({"method": "silence", "user": "bob"}, "there is no option user (did you mean username?). Options: url,"),
        ({"method": "none", "outsid": True}, "there is no option outsid (did you mean outside?). Options: none."),
        ({"method": "service"}, "names is missing: a list of systemd units"),
        ({"method": "service", "names": []}, "names is wrong: []."),
        ({"method": "service", "names": "nginx"}, "names is wrong: nginx."),
        ({"method": "service", "names": [""]}, "names is wrong"),
        ({"method": "service", "names": ["a", 5]}, "names is wrong"),
        ({"method": "service", "names": {"a": 1}}, "names is wrong"),
        ({**COMMAND, "begin": " "}, "begin is wrong"),
        ({**COMMAND, "begin": []}, "begin is wrong"),
        ({**COMMAND, "begin": {"a": 1}}, "begin is wrong"),
        ({**COMMAND, "begin": "echo drain > mode"}, "begin: no shell reads it, so > would be an argument of the program. Put the line into a script"),
        ({**COMMAND, "undo": "a && b"}, "undo: no shell reads it, so && would"),
        ({**COMMAND, "check": "a 2>/dev/null ; true"}, "check: no shell reads it, so 2>/dev/null would"),
        ({**COMMAND, "check": "sh -c true || false"}, "check: no shell reads it, so || would"),
        ({**COMMAND, "timeout": True}, "timeout is wrong: True"),
        ({**COMMAND, "timeout": -1}, "timeout is wrong: -1"),
        ({**COMMAND, "timeout": 1.5}, "timeout is wrong"),
        ({**COMMAND, "timeout": 1234567}, "timeout is wrong"),
        ({**COMMAND, "timeout": "5\n"}, "timeout is wrong"),
        ({"method": "probe_file", "path": ""}, "path is wrong"),
        ({"method": "probe_file", "path": "/x", "present_means": "up"}, "present_means is wrong: up"),
        ({"method": "probe_file", "path": "/x", "mode": 644}, "mode is wrong: 644"),
        ({"method": "probe_file", "path": "/x", "mode": "0888"}, "mode is wrong"),
        ({"method": "probe_file", "path": "/x", "ports": ["http"]}, "ports is wrong"),
        ({"method": "probe_file", "path": "/x", "ports": 443}, "ports is wrong"),
        ({"method": "tasks", "begin": "gone.yml", "check": "gone.yml", "undo": "gone.yml"}, "begin: there is no file gone.yml in"),
    ],
)
def test_what_cannot_be_right_is_named(entry: Any, words: str) -> None:
    said = problems(entry)
    assert said and words in said[0] and said[0].startswith("drain_methods, entry 1")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"method": "probefile", "path": "/x"}, "haproxy, kubernetes, tasks (did you mean probe_file?)."),
        ({"method": "probe_file", "pth": "/x"}, "there is no option pth (did you mean path?). Options: path,"),
        ({"method": "teleport"}, "haproxy, kubernetes, tasks."),
        ({"method": "none", "zzzz": 1}, "there is no option zzzz. Options: none."),
    ],
)
def test_what_was_probably_meant_is_suggested(entry: dict[str, Any], words: str) -> None:
    assert words in problems(entry)[0]


def test_a_user_without_a_password_is_named() -> None:
    known = {"method": "silence", "value": "web1", "username": "me"}
    assert problems({**known, "password_file": "/etc/secret"}) == []
    (said,) = problems(known)
    assert said == "drain_methods, entry 1 (silence): username has no effect without password_file, the file with its password on the VM."


def test_a_method_of_ones_own_is_suggested_too(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f5_pool").mkdir()
    (tmp_path / "f5_pool" / "check.yml").write_text("---")
    assert "(did you mean f5_pool?)." in problems({"method": "f5pool"}, folders=[str(ROLE), str(tmp_path)], own_folder=str(tmp_path))[0]


# Each was given to Debian's Alertmanager 0.25.0: it took these, and refused those below with 400.
@pytest.mark.parametrize(
    "value",
    [
        "web1",
        r"web1([.:].*)?",
        r"a\.b",
        'a"b',
        "a|b",
        "(?P<x>a)",
        "(?i)web1",
        "a(?i)b",
        "a{1,3}",
        "a{1000}",
        r"\pL",
        r"a\z",
        r"\++",
        "[*+]+x",
        "a,2000",
        "[[:alpha:]]",
        "[^[:alpha:]_]",
        r"\Qa.b*\E",
        r"(?i-s:web1)(?U)",
        r"\p{Greek}",
    ],
)
def test_a_silence_may_have_what_alertmanager_takes(value: str) -> None:
    assert problems({"method": "silence", "value": value, "label": "__name_1", "seconds": "1"}) == []


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".*",
        "web1|",
        "(web1)?",
        "(?i)",
        "(?s:.*)",
        "(?i)web1|",
        r"\pL*",
        r"\z",
        "[[:alpha:]]?",
        r"\Q\E",
        r"(?U)\Qa\E*",
        "(a",
        "[a",
        "*",
        "a(?=b)",
        "a(?!b)",
        "(?<=a)b",
        "(?>a)",
        "a++",
        "a?+b",
        "(?P<x>a)(?P=x)",
        "a{2000}",
        "a{1,2000}",
        r"(a)\1",
        r"a\Z",
    ]
    # Alertmanager takes these, but does not find them again by a filter.
    + ["caf\u00e9", "a\tb"]
    + [5, ["web1"], None],
)
def test_a_silence_that_alertmanager_would_refuse_in_the_night_is_refused_at_once(value: Any) -> None:
    assert "value is wrong: " in problems({"method": "silence", "value": value})[0]


@pytest.mark.parametrize("options", [{"label": "bad-label"}, {"label": "1x"}, {"label": ""}, {"label": "a:b"}, {"label": "x\n"}, {"seconds": 0}])
def test_so_are_its_label_and_an_end_that_is_no_later_than_its_begin(options: dict[str, Any]) -> None:
    ((name, _value),) = options.items()
    assert f"{name} is wrong: " in problems({"method": "silence", **options})[0]


def test_every_entry_is_looked_at() -> None:
    said = problems({"method": "service"}, {"method": "none"}, {"method": "service", "nams": [1]})
    assert [one.partition(": ")[0] for one in said] == ["drain_methods, entry 1 (service)", *["drain_methods, entry 3 (service)"] * 2]


def test_names_and_former_methods_are_checked_too() -> None:
    said = problems({"method": "none", "name": "a"}, {"method": "none", "name": "a"}, former=[{"method": "tasks"}])
    assert ["has the name a, too" in said[0], said[1].startswith("drain_methods_former, entry 1 (tasks): undo is missing")] == [True, True]


def test_methods_of_ones_own_come_from_their_folder_alone(tmp_path: pathlib.Path) -> None:
    for name in ("own", "service", "back"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ("undo.yml" if name == "back" else "check.yml")).write_text("---")
    keys = {"folders": [str(ROLE), str(tmp_path)], "own_folder": "methods"}
    assert problems({"method": "own", "anything": 1}, **keys) == []
    # What can only be undone is no method to drain with.
    assert f"method must be {KINDS} or a folder in methods." in problems({"method": "back"}, **keys)[0]
    # A folder that is there and lacks its file is no misspelt name.
    there = problems({"method": "back"}, **{**keys, "own_folder": str(tmp_path)})
    assert there == [f"drain_methods, entry 1 (back): the folder {tmp_path}/back has no check.yml, and so is no method to drain with."]
    assert "names is missing" in problems({"method": "service"}, **keys)[0]


def test_a_method_of_ones_own_has_no_option_that_every_method_has(tmp_path: pathlib.Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "check.yml").write_text("---")
    (tmp_path / "own" / "options.yml").write_text("cluster: {type: text, required: true, description: the cluster.}")
    (said,) = problems({"method": "own", "cluster": "db"}, folders=[str(ROLE), str(tmp_path)], own_folder=str(tmp_path))
    assert said.startswith("drain_methods, entry 1 (own): its options.yml describes cluster, which an entry of any method may have")


def test_the_roles_folder_has_only_what_is_built_in(tmp_path: pathlib.Path) -> None:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "check.yml").write_text("---")
    assert "method must be" in problems({"method": "extra"}, folders=[str(tmp_path)])[0]
    assert problems({"method": "extra"}, folders=[str(ROLE), str(tmp_path)]) == []
    # A folder of one's own does not take the place of a built-in method.
    (tmp_path / "extra").rename(tmp_path / "haproxy")
    assert "method must be" in problems({"method": "haproxy"}, folders=[str(tmp_path / "none"), str(tmp_path)])[0]


def test_task_files_are_found_beside_the_playbook_or_by_their_whole_path(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.yml").write_text("---")
    entry = {"method": "tasks", "begin": "a.yml", "check": str(tmp_path / "a.yml"), "undo": "a.yml"}
    assert problems(entry, places=[str(tmp_path)]) == []
    assert len(problems(entry, places=[str(tmp_path / "none")])) == 2


def test_windows_has_methods_of_its_own_and_says_what_the_controller_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    iis = {"method": "iis", "sites": ["Shop"]}
    monkeypatch.setattr(modules, "is_installed", lambda name: False)
    (said,) = problems({"method": "none"}, iis, system="windows")
    assert said.startswith("drain_methods, entry 2 (iis): the controller has no microsoft.iis.website, microsoft.iis.website_info")
    assert said.endswith("To install it: ansible-galaxy collection install microsoft.iis")
    monkeypatch.setattr(modules, "is_installed", lambda name: name != "microsoft.iis.web_app_pool")
    (said,) = problems(iis, system="windows")
    assert "the controller has no microsoft.iis.web_app_pool. To install" in said
    monkeypatch.setattr(modules, "is_installed", lambda name: True)
    assert problems(iis, {"method": "service", "names": ["w3svc"]}, system="windows") == []
    assert "iis, wsfc" in problems({"method": "teleport"}, system="windows")[0]


def test_every_module_of_another_collection_that_is_called_on_windows_is_asked_for() -> None:
    called: set[str] = set()
    for file in (REPOSITORY / "plugins" / "plugin_utils" / "_windows").rglob("*.py"):
        called.update(re.findall(r"""\.call\(\s*["']([a-z_]+\.[a-z_]+\.[a-z_]+)["']""", file.read_text()))
    for file in ROLE.rglob("*.yml"):
        called.update(name for name in re.findall(r"^\s+(?:- )?([a-z_]+\.[a-z_]+\.[a-z_]+):", file.read_text(), re.MULTILINE))
    needed = {name for name in called if not name.startswith(("ansible.", "maintenance.azure."))}
    assert needed == {name for method in WINDOWS_METHODS.values() for name in method.windows_modules}


TEXTS = st.sampled_from(
    ["method", "none", "service", "command", "tasks", "probe_file", "haproxy", "own", "names", "undo", "path", "name", "outside", "by_hand", ""]
) | st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
ENTRY = st.fixed_dictionaries(
    {"method": st.sampled_from([*METHODS, "haproxy", "tasks", "own"])},
    optional={**{key: JSON for method in METHODS.values() for key in method.options}, "name": JSON, "outside": JSON, "by_hand": JSON},
)


@settings(max_examples=200, deadline=None)
@given(JSON | st.lists(ENTRY | JSON, max_size=3), JSON | st.lists(ENTRY | JSON, max_size=3), st.sampled_from(["linux", "windows", ""]))
def test_whatever_the_settings_are_there_is_an_answer(methods: Any, former: Any, system: str) -> None:
    found = validation.problems(methods, former, system, folders=[str(ROLE)], places=["."])
    assert all(isinstance(said, str) and said for said in found)


@settings(max_examples=200, deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=2))
def test_what_passes_has_the_options_that_the_engine_reads(methods: list[dict[str, Any]]) -> None:
    if validation.problems(methods, [], "linux"):
        return
    for entry in methods:
        assert kind_of(entry["method"]).runs_on_vm("linux")
        options = METHODS[entry["method"]].options
        assert all(name in entry for name, about in options.items() if about.required)
        for name, about in options.items():
            if name in entry and about.kind == "whole":
                int(entry[name])
            if name in entry and about.kind in ("texts", "wholes"):
                assert isinstance(entry[name], (list, tuple))
