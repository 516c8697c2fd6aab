# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 10 for the tasks status and decide, which no argument spec guards: their tasks that run once take the variables of the first host."""

from __future__ import annotations

import typing as t

import pytest
from victims import Victims

Make = t.Callable[..., Victims]

PLAY = """
- hosts: liar,web1
  gather_facts: true
  gather_subset: ["!all", "!min"]
  tasks:
    - ansible.builtin.include_role:
        name: maintenance.azure.respond
        tasks_from: {tasks}.yml
        rolespec_validate: false
"""
# Each would end it by itself.
FACTS = {"decide_vm": "web1", "respond_timing": "nothing", "lookup": "hidden", "now": "hidden"}


@pytest.mark.parametrize("tasks", ["status", "decide"])
def test_facts_of_the_first_host_do_not_end_it(make_victims: Make, tasks: str) -> None:
    lab = make_victims(["liar", "web1"])
    lab.lie("liar", setup={"answer": {"changed": False, "ansible_facts": FACTS}})
    event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    (lab.folder / "play.yml").write_text(PLAY.format(tasks=tasks))
    words = {"decide_event_id": event, "decide_action": "hold", "decide_why": "because", "decide_who": "alice"} if tasks == "decide" else {}
    _code, output = lab.raw_play(str(lab.folder / "play.yml"), **words)
    text = output.decode()
    assert "liar" in text and all(name in text for name in FACTS), f"it is not said which facts of which host are refused:\n{text[-2500:]}"
    assert event[:8].lower() in text.lower(), f"nothing is said of web1's event, because of the liar's facts:\n{text[-2500:]}"
    if tasks == "decide":
        assert list(lab.records_folder("web1").glob("*.json")), f"the override was not written, because of the liar's facts:\n{text[-2500:]}"
