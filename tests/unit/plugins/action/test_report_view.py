# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of playbook report: what is wrong with them is one line, before any VM is asked."""

from __future__ import annotations

import pathlib
from typing import Any
from unittest import mock

import pytest
from controller_actions import documented, run_action

from ansible_collections.maintenance.azure.plugins.action import report_view
from ansible_collections.maintenance.azure.plugins.modules import report_view as documentation


class HostVars(dict[str, Any]):
    """The variables of all hosts, as core has them."""

    raw_get = dict.get


HOSTS = HostVars(web1={}, bastion={}, vm1={})


def begin(variables: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    variables = {"hostvars": HOSTS, "ansible_play_hosts_all": ["web1"], **variables}
    with mock.patch.object(report_view.play_keywords, "refused_around_all", return_value=None):
        return run_action(report_view, arguments, variables, template=lambda value: value)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"report_format": "yaml"}, "value of report_format must be one of: text, json, got: yaml"),
        ({"respond_min_answered": "most"}, "argument 'respond_min_answered' is of type str"),
        ({"report_archive_host": "bastion"}, "nothing would be archived: "),
        ({"report_archive_limits": {"days": 3}}, "nothing would be archived: "),
        ({"report_archive_path": "/srv/archive", "report_archive_host": "basiton"}, "report_archive_host: the inventory has no host basiton"),
        ({"report_archive_path": ""}, "report_archive_path is empty, so nothing would be archived: give a whole path, or leave it out"),
        ({"report_archive_path": "srv/archive"}, "report_archive_path must be a whole path such as /srv/maintenance-archive, and is 'srv/archive'"),
    ],
)
def test_wrong_options(variables: dict[str, Any], words: str) -> None:
    found = begin(variables)
    assert found["failed"] and found["msg"].startswith(words) and found["msg"].isprintable(), found


@pytest.mark.parametrize("limits", [5, "many", {"entrys": 5}, {"days": "many"}, {"bytes": -1}, [1]])
def test_limits_of_an_archive_that_are_none(limits: Any) -> None:
    found = begin({}, limits=limits)
    words = "report_archive_limits must be a dictionary with entries, bytes, days, whole numbers of 0 or more (at most 4000 entries and "
    assert found["failed"] and found["msg"].startswith(words) and found["msg"].endswith(f", not {limits!r}")


@pytest.mark.parametrize("name", ["entries", "bytes", "days"])
def test_limits_with_which_an_archive_would_lose_all(name: str) -> None:
    assert begin({}, limits={name: "0"})["msg"].startswith("report_archive_limits: with a limit of 0 the archive would keep nothing; ")


@pytest.mark.parametrize("given", [{"a": 1}, 5, [5], ["x.html", None]])
def test_files_of_a_report_that_are_none(given: Any) -> None:
    assert begin({}, file=given)["msg"] == f"report_file must be a list of files, or text with commas, not {given!r}"


@pytest.mark.parametrize("given", [["a"], {"a": 1}])
def test_an_id_that_is_none(given: Any) -> None:
    assert begin({}, event_id=given)["msg"] == f"report_event_id must be the beginning of an event's id, not {given!r}"


def test_right_ones() -> None:
    archive = {"report_archive_path": "/srv/archive", "report_archive_host": "bastion", "report_archive_become": False}
    for variables in ({}, archive, {**archive, "report_archive_host": "localhost"}):
        assert list(begin(variables, limits={"days": "3"})["shares"]) == ["web1"]


def test_its_options_are_documented() -> None:
    found = {name: {"type": about["type"], "default": about["default"]} for name, about in documented(documentation).items()}
    assert report_view.ActionModule.spec == found


@pytest.mark.parametrize("name", ["report_archve_path", "report_archiv_path", "report_fiel", "report_formt", "report_month_"])
def test_a_misspelt_option_is_refused_wherever_it_is_set(name: str) -> None:
    for extra in ({}, {name: 1}):
        with mock.patch.object(report_view, "load_extra_vars", return_value=extra):
            found = begin({name: "/srv/archive"})
        assert found["msg"].count(f"{name} is no option of maintenance.azure and has no effect. Did you mean report_") == 1


def test_a_variable_of_ones_own_is_refused_as_an_extra_variable_alone() -> None:
    inventory = {"report_files": ["a"], "report_file": "", "report_team": "x", "respond_team": "y"}
    assert list(begin(inventory)["shares"]) == ["web1"]
    for name, words in (
        ("report_files", "Did you mean report_file?"),
        ("report_vms", "No options: report_vms. Those of playbook report are report_archive_become, report_archive_host,"),
        ("respond_min_answerd", "Did you mean respond_min_answered?"),
    ):
        with mock.patch.object(report_view, "load_extra_vars", return_value={name: 1}):
            assert words in begin({**inventory, name: 1})["msg"]
    with mock.patch.object(report_view, "load_extra_vars", return_value={"respond_team": 1, "report_vm": "web1"}):
        assert list(begin({**inventory, "report_vm": "web1"})["shares"]) == ["web1"]


def test_an_option_of_a_report_that_one_host_alone_has_is_warned_of() -> None:
    hosts = HostVars(vm1={"report_month": "2026-03"}, web1={"report_month": "2026-03", "report_file": "w.html", "report_archive_path": "/srv/x"})
    with mock.patch.object(report_view.Display, "warning") as warned:
        begin({"hostvars": hosts})
    ((words,),) = [call.args for call in warned.call_args_list]
    assert words.startswith("report_file differs on web1 and has no effect there: that of vm1, the first host of the play")


def test_a_vm_whose_archive_is_not_set_has_skipped_it_and_one_that_failed_is_red() -> None:
    asked = {"own": "read", "archived": "kept"}
    read = {"entries": [], "now": None}
    hosts = HostVars(vm1={"read": read, "kept": {"skipped": True}}, web1={"read": read, "kept": {"failed": True, "msg": "full"}})
    for archive, names in (("", ["vm1", "web1"]), ("/srv/x", ["web1"])):
        variables = {"hostvars": hosts, "ansible_play_hosts_all": names}
        assert run_action(report_view, {**asked, "archive": archive}, variables)["fails"].startswith("web1: not archived, for the reasons above")
    assert run_action(report_view, {**asked, "archive": "/srv/x"}, {"hostvars": hosts, "ansible_play_hosts_all": ["vm1"]})["fails"] == ""


def test_no_fact_of_a_vm_is_taken_for_a_misspelt_option() -> None:
    assert list(begin({"report_fiel": 1, "ansible_facts": {"report_fiel": 1}})["shares"]) == ["web1"]


def test_where_a_file_is_written_is_said_in_full(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = run_action(report_view, {"own": "read", "file": "march.csv"}, {"hostvars": HOSTS, "ansible_play_hosts_all": ["web1"]}, check_mode=False)
    assert found["lines"][-1] == f"Written: {tmp_path / 'march.csv'}"


@pytest.mark.parametrize("check_mode", [False, True])
def test_check_mode_writes_no_file_and_says_so(tmp_path: pathlib.Path, check_mode: bool) -> None:
    path = tmp_path / "march.html"
    variables = {"hostvars": HOSTS, "ansible_play_hosts_all": ["web1"]}
    found = run_action(report_view, {"own": "read", "file": str(path)}, variables, check_mode=check_mode)
    assert found["changed"] and path.exists() is not check_mode
    assert found["lines"][-1] == (f"Not written, because of --check: {path}" if check_mode else f"Written: {path}")
