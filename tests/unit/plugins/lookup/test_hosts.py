# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play of the collection on no host at all must not look like success."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

EMPTY, REFUSED = "[web]\n", "No host of the inventory matches"


def play(tmp_path: pathlib.Path, inventory: str, *arguments: str) -> tuple[int, str]:
    (tmp_path / "hosts.ini").write_text(inventory)
    # Never a task: hosts that match are only listed.
    command = ["ansible-playbook", "-i", str(tmp_path / "hosts.ini"), *arguments]
    # As users have it: ansible-test sets "error", where core itself takes a pattern with a misspelt name for one without hosts.
    environment = {**os.environ, "ANSIBLE_HOST_PATTERN_MISMATCH": "warning"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["respond", "status", "decide", "report"])
def test_an_empty_inventory_is_refused(tmp_path: pathlib.Path, name: str) -> None:
    code, output = play(tmp_path, EMPTY, f"maintenance.azure.{name}")
    assert code != 0 and " ".join(output.split()).count(REFUSED) == 1


def test_a_pattern_without_hosts_is_refused(tmp_path: pathlib.Path) -> None:
    code, output = play(tmp_path, "[web]\nweb1\n", "maintenance.azure.status", "-e", "status_hosts=nosuch")
    assert code != 0 and f"{REFUSED} 'nosuch'" in " ".join(output.split())


def test_a_list_of_hosts_is_refused_in_words(tmp_path: pathlib.Path) -> None:
    code, output = play(tmp_path, "[web]\nweb1\n", "maintenance.azure.status", "-e", '{"status_hosts": ["web1"]}')
    assert code != 0 and "The hosts must be a pattern, as text such as web1,web2, and are ['web1']." in " ".join(output.split()), output


@pytest.mark.parametrize("limit", ["web2", "all:!web1", "@FILE"])
def test_a_limit_that_leaves_out_every_host_of_the_pattern_is_refused(tmp_path: pathlib.Path, limit: str) -> None:
    (tmp_path / "failed.retry").write_text("web2\n\n")
    given = limit.replace("FILE", str(tmp_path / "failed.retry"))
    code, output = play(tmp_path, "[web]\nweb1\nweb2\n", "maintenance.azure.status", "-e", "status_hosts=web1", "--limit", given)
    assert code != 0 and f"{REFUSED} 'web1' and --limit {limit.replace('@FILE', 'web2')}, so nothing is known about any VM" in " ".join(output.split()), output


@pytest.mark.parametrize(("name", "option"), [("gate", "gate_hosts"), ("rolling_upgrade", "upgrade_hosts")])
def test_each_part_of_a_pattern_has_to_match_where_all_are_meant_together(tmp_path: pathlib.Path, name: str, option: str) -> None:
    code, output = play(tmp_path, "[web]\nweb1\n", f"maintenance.azure.{name}", "-e", f"{option}=web1,wbe2,!web3")
    assert code != 0 and f"{REFUSED} wbe2 of 'web1,wbe2,!web3'" in " ".join(output.split()), output


def test_a_group_that_is_empty_by_design_is_no_misspelt_name(tmp_path: pathlib.Path) -> None:
    # Refused only by the next check.
    code, output = play(tmp_path, "[web]\nweb1\n[spare]\n", "maintenance.azure.rolling_upgrade", "-e", "upgrade_hosts=web1:spare")
    assert code != 0 and REFUSED not in output and "upgrade_name is empty" in output


def test_a_pool_may_be_empty_by_design(tmp_path: pathlib.Path) -> None:
    assert play(tmp_path, EMPTY, "maintenance.azure.respond", "-e", "respond_allow_empty=true")[0] == 0


@pytest.mark.parametrize("option", ["--syntax-check", "--list-hosts", "--list-tasks"])
def test_looking_at_a_playbook_needs_no_inventory(tmp_path: pathlib.Path, option: str) -> None:
    assert play(tmp_path, EMPTY, "maintenance.azure.respond", option)[0] == 0


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("respond", ("--tags", "nothing")),
        ("respond_event", ("--skip-tags", "all")),
        ("status", ("--start-at-task", "Status | Show the state")),
        ("decide", ("--tags", "nothing")),
        ("gate", ("--tags", "nothing", "-e", "gate_hosts=web1")),
        ("rolling_upgrade", ("--tags", "nothing", "-e", "upgrade_hosts=web1")),
        ("watch", ("--tags", "nothing")),
        ("report", ("--start-at-task", "History | Show it")),
        ("awx", ("--tags", "nothing")),
    ],
)
def test_a_run_without_any_task_is_red_and_names_what_left_them_out(tmp_path: pathlib.Path, name: str, left_out: tuple[str, ...]) -> None:
    """No task runs, so none can fail, and none touches a host."""
    code, output = play(tmp_path, "[web]\nweb1\n", f"maintenance.azure.{name}", *left_out)
    assert code != 0 and " ".join(left_out[:2]) in " ".join(output.split()) and "gain without" in " ".join(output.split()), output


def test_a_limit_that_leaves_out_the_controller_is_refused_where_all_is_done_there(tmp_path: pathlib.Path) -> None:
    code, output = play(tmp_path, "[web]\nweb1\n", "maintenance.azure.awx", "--limit", "web1")
    assert code != 0 and f"{REFUSED} 'localhost' and --limit web1" in " ".join(output.split()), output


@pytest.mark.parametrize("name", ["drill", "drill_spot"])
def test_a_drill_that_simulates_no_vm_is_red(tmp_path: pathlib.Path, name: str) -> None:
    code, output = play(tmp_path, EMPTY, f"maintenance.azure.{name}", "--tags", "nothing")
    assert code != 0 and f"{REFUSED} 'drill_vms'" in " ".join(output.split()), output
