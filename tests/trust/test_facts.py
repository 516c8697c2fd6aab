# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Item 1: a setting that stands in a host's facts, by gather_facts or from a fact cache, is refused by name. On two versions of ansible-core."""

from __future__ import annotations

import pathlib
import subprocess
import typing as t

import pytest
import tree
from victims import Victims

Make = t.Callable[..., Victims]

PLAY = """
- hosts: liar,web1
  gather_facts: {gather}
  gather_subset: ["!all", "!min"]
  roles:
    - maintenance.azure.respond
"""
POLICY = [{"name": "liar", "drain": False, "approve": "now"}]


def path_of(core: str) -> str:
    """The programs of a version of ansible-core; the environment is built where it is missing."""
    if core == "own":
        return ""
    done = subprocess.run([tree.ROOT / "tests" / "tools" / "environment.sh", f"core-{core}"], stdout=subprocess.PIPE, text=True, check=True)
    return f"{done.stdout.strip()}/bin:"


@pytest.mark.parametrize("core", ["own", "2.18"])
@pytest.mark.parametrize("way", ["gathered", "cached"])
def test_a_setting_in_facts_is_refused_by_name(make_victims: Make, tmp_path: pathlib.Path, core: str, way: str) -> None:
    lab = make_victims(["liar", "web1"])
    facts = {"respond_policy": POLICY, "respond_unmanaged": "ignore", "respond_notify_tasks": lab.evil_tasks("notify")}
    lab.lie("liar", setup={"answer": {"changed": False, "ansible_facts": facts}})
    cache = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(tmp_path / "cache")}
    lab.more_environment = {"PATH": path_of(core) + lab.environment()["PATH"], **cache}
    lab.hosts["web1"]["drain_methods"] = [{"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}]
    if way == "cached":
        # Another play has gathered facts some time ago.
        gather = lab.folder / "gather.yml"
        gather.write_text('- {hosts: liar, gather_facts: true, gather_subset: ["!all", "!min"], tasks: []}\n')
        assert lab.raw_play(str(gather))[0] == 0
    lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    lab.simulator.event("Redeploy", ["liar"], notice=36000, started_seconds=36000)
    (lab.folder / "play.yml").write_text(PLAY.format(gather="true" if way == "gathered" else "false"))
    _code, output = lab.raw_play(str(lab.folder / "play.yml"))
    done = [f"ran: {name}" for name in lab.found()] + [f"approved: {event}" for event in lab.approved()]
    assert done == [], "a fact ruled the fleet"
    text = output.decode()
    assert "respond_policy" in text and "liar" in text, f"it is not said which setting of which host is refused:\n{text[-1500:]}"
