# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of role watch that may hold a secret: no other user reads them, and a run with --diff shows none. Suite guests has them on a VM."""

from __future__ import annotations

import pathlib

import pytest
import yaml

TASKS = pathlib.Path(__file__).resolve().parents[3] / "roles" / "watch" / "tasks"


@pytest.mark.parametrize(
    ("file", "name", "owner", "group", "mode"),
    [
        ("copy.yml", "Write the settings", "root", "{{ __watch_group }}", "0640"),
        ("copy.yml", "Write the credential", "{{ __watch_teller }}", "root", "0400"),
        ("drain.yml", "Write the policy and the methods, for root alone", "root", "root", "0600"),
    ],
)
def test_no_other_user_reads_it(file: str, name: str, owner: str, group: str, mode: str) -> None:
    (task,) = [one for one in yaml.safe_load((TASKS / file).read_text()) if one["name"] == name]
    given = task["ansible.builtin.copy"]
    assert (given["owner"], given["group"], given["mode"]) == (owner, group, mode)
    assert task.get("no_log") or task["diff"] is False
