# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which methods there are: what messages, validation and the choice between engine and tasks all read from one place."""

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS, defaults, methods_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import catalogue
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.validation import FORMS

ROLE = pathlib.Path(__file__).resolve().parents[6] / "roles" / "drain" / "tasks" / "methods"


def test_every_built_in_method_is_of_the_engine_or_a_folder_of_the_role() -> None:
    for system in ("linux", "windows"):
        for kind in catalogue.built_in(system):
            assert kind_of(kind).runs_on_vm(system) or catalogue.is_method(str(ROLE / kind), system, catalogue.TO_DRAIN), (system, kind)


def test_every_method_of_the_engine_is_built_in_and_has_no_folder_for_linux() -> None:
    for system in ("linux", "windows"):
        for kind in methods_of(system):
            assert kind in catalogue.built_in(system)
            assert not catalogue.is_method(str(ROLE / kind), system)


def test_options_of_the_engine_are_described_as_those_of_folders_are() -> None:
    for system, kind, method in [(name, *one) for name in ("linux", "windows") for one in methods_of(name).items()]:
        found = catalogue.options_of(kind, "/nowhere", system) or {}
        assert set(found) == set(method.options)
        for name, about in found.items():
            assert about["type"] in FORMS and catalogue.description(kind, name, about)
            assert set(about) <= {"type", "required", "description", "default", "choices", "hosts", "address", "parts"}
        assert {key: about["default"] for key, about in found.items() if "default" in about} == defaults(kind, system)
        parts = [(f"{name}.{part}", about) for name, whole in found.items() for part, about in whole.get("parts", {}).items()]
        assert all(about["type"] in FORMS and catalogue.description(kind, name, about) for name, about in parts)
    assert (catalogue.options_of("probe_file", "") or {})["present_means"]["choices"] == ["in", "out"]
    assert (catalogue.options_of("service", "") or {})["names"]["required"] is True


@pytest.mark.parametrize(
    ("kind", "linux", "windows"),
    [("none", True, True), ("service", True, True), ("iis", False, True), ("wsfc", False, True), ("haproxy", False, False), ("x", False, False)],
)
def test_what_the_engine_runs(kind: str, linux: bool, windows: bool) -> None:
    assert (kind_of(kind).runs_on_vm("linux"), kind_of(kind).runs_on_vm("windows")) == (linux, windows)


def test_an_unknown_system_is_linux() -> None:
    assert catalogue.built_in("plan9") == catalogue.built_in("linux")


def test_folders_with_and_without_described_options(tmp_path: pathlib.Path) -> None:
    for name, files in {"plain": ["check.yml"], "back": ["undo.yml"], "empty": [], "described": ["check.yml", "options.yml"], "service": ["check.yml"]}.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_text("level: {type: whole}\nnonsense: 5\n" if file == "options.yml" else "---")
    (tmp_path / "only_windows" / "windows").mkdir(parents=True)
    (tmp_path / "only_windows" / "windows" / "check.yml").write_text("---")
    known = catalogue.known_methods([str(tmp_path), str(tmp_path / "none")])
    assert set(known) == {*METHODS, *WINDOWS_METHODS, "plain", "back", "described", "only_windows"}
    assert (known["plain"], known["described"]) == (None, {"level": {"type": "whole"}})
    # A folder with the name of one of the engine's does not replace it.
    assert "names" in (known["service"] or {})
    assert [catalogue.is_method(str(tmp_path / "only_windows"), system) for system in ("linux", "windows")] == [False, True]
    assert catalogue.is_method(str(tmp_path / "back"), "linux") and not catalogue.is_method(str(tmp_path / "back"), "linux", catalogue.TO_DRAIN)


def test_empty_options_are_none_at_all(tmp_path: pathlib.Path) -> None:
    (tmp_path / "options.yml").write_text("")
    assert catalogue.options_of("own", str(tmp_path)) == {}
    assert catalogue.options_of("own", str(tmp_path / "none")) is None


def test_defaults_are_those_that_are_described(tmp_path: pathlib.Path) -> None:
    (tmp_path / "options.yml").write_text("level: {type: whole, default: 3}\nquiet: {type: truth, default: false}\nname: {type: text}\nends: {default: null}\n")
    assert catalogue.defaults_of("own", str(tmp_path)) == {"level": 3, "quiet": False}
    assert catalogue.defaults_of("own", str(tmp_path / "none")) == {}
    assert catalogue.defaults_of("haproxy", str(ROLE / "haproxy")) == {
        "server": "", "backends": [], "socket": "/run/haproxy/admin.sock", "sessions": 0, "maintenance": True, "servers_left": 1,
        "backups_serve": False,
    }  # fmt: skip
