# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods of the collection: each is run by the engine or has its tasks, and those that act on their own VM alone are known."""

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.catalogue import built_in, folder_of, is_method

ROLE = pathlib.Path(__file__).resolve().parents[6] / "roles" / "drain"
EVERYWHERE = {"service", "probe_file", "command", "none", "haproxy", "kubernetes", "tasks"}


@pytest.mark.parametrize(("system", "least"), [("linux", EVERYWHERE), ("windows", EVERYWHERE | {"iis", "wsfc"})])
def test_each_is_run_by_the_engine_or_has_tasks(system: str, least: set[str]) -> None:
    assert set(built_in(system)) >= least
    for kind in built_in(system):
        assert kind_of(kind).runs_on_vm(system) != is_method(str(ROLE / "tasks" / "methods" / kind), system), kind


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_only_these_may_act_elsewhere(system: str) -> None:
    outside = {"slurm", "pacemaker", "silence"} if system == "linux" else set()
    assert {kind for kind in built_in(system) if not kind_of(kind).is_local(system)} == {"haproxy", "kubernetes", "tasks", *outside}
    assert not kind_of("of_ours").is_local(system)


def test_methods_of_windows_are_an_operators_own_elsewhere() -> None:
    assert not kind_of("iis").is_local("linux") and not kind_of("wsfc").is_local("linux")


def test_each_has_its_tasks_in_the_roles_folder_and_no_other(tmp_path: pathlib.Path) -> None:
    methods = str(ROLE / "tasks" / "methods")
    for kind in ("haproxy", "wsfc", "flagged"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "undo.yml").touch()
    folders = [methods, str(tmp_path)]
    assert folder_of("haproxy", "linux", folders) == f"{methods}/haproxy"
    # What the engine runs on Windows has no tasks there, and is an operator's own elsewhere.
    assert [folder_of("wsfc", system, folders) for system in ("windows", "linux")] == [None, str(tmp_path / "wsfc")]
    assert folder_of("flagged", "linux", folders) == str(tmp_path / "flagged")
    assert [folder_of("flagged", "linux", some) for some in ([methods], [str(tmp_path)], [])] == [None] * 3
