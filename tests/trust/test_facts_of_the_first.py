# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 10: tasks that run once for all take the variables of the first host. Its facts must not end the pass of the others."""

from __future__ import annotations

import typing as t

import pytest
from test_facts import path_of
from victims import Victims

Make = t.Callable[..., Victims]

PLAY = """
- hosts: liar,web1
  gather_facts: true
  gather_subset: ["!all", "!min"]
  roles:
    - maintenance.azure.respond
"""
# Settings that the templates of the whole fleet's settings cannot evaluate, and names that hide functions of templates. Each would end the pass by
# itself. No more at once than the refusal names one by one.
FACTS: dict[str, dict[str, t.Any]] = {
    "settings": {"respond_timing": "nothing", "respond_pass_interval": {"not": "a number"}, "lookup": "hidden", "now": "hidden"},
    "functions": dict.fromkeys(("query", "q", "range", "dict", "omit"), "hidden"),
}


@pytest.mark.parametrize("core", ["own", "2.18"])
@pytest.mark.parametrize("facts", list(FACTS))
def test_facts_of_the_first_host_do_not_end_the_pass(make_victims: Make, core: str, facts: str) -> None:
    lab = make_victims(["liar", "web1"])
    lab.lie("liar", setup={"answer": {"changed": False, "ansible_facts": FACTS[facts]}})
    lab.more_environment = {"PATH": path_of(core) + lab.environment()["PATH"]}
    event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    (lab.folder / "play.yml").write_text(PLAY)
    _code, output = lab.raw_play(str(lab.folder / "play.yml"))
    text = output.decode()
    assert event in lab.approved(), f"web1 was not served, because of the liar's facts:\n{text[-2500:]}"
    named = f"the setting {', '.join(sorted(FACTS[facts]))} comes from its facts"
    assert "liar" in text and named in text, f"it is not said which facts of which host are refused:\n{text[-2500:]}"
