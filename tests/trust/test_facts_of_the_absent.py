# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 10: a pass reads the drain methods of all hosts for its clusters. Facts of one that takes no part, with which they cannot be evaluated, end no pass."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
from test_facts import path_of
from victims import Victims

Make = t.Callable[..., Victims]

GATHER = '- {hosts: liar, gather_facts: true, gather_subset: ["!all", "!min"], tasks: []}\n'
PLAY = "- {hosts: web1, gather_facts: false, roles: [maintenance.azure.respond]}\n"


@pytest.mark.parametrize("core", ["own", "2.18"])
def test_facts_of_a_host_that_takes_no_part_end_no_pass(make_victims: Make, tmp_path: pathlib.Path, core: str) -> None:
    lab = make_victims(["liar", "web1"])
    lab.lie("liar", setup={"answer": {"changed": False, "ansible_facts": {"shards": 0}}})
    cache = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(tmp_path / "cache")}
    lab.more_environment = {"PATH": path_of(core) + lab.environment()["PATH"], **cache}
    for host, wait in (("web1", "0"), ("liar", "{{ 60 // ansible_facts.shards }}")):
        lab.hosts[host]["drain_methods"] = [{**lab.hosts[host].get("drain_methods", lab.all.get("drain_methods"))[0], "cluster": "pg", "threshold": wait}]
    (lab.folder / "gather.yml").write_text(GATHER)
    assert lab.raw_play(str(lab.folder / "gather.yml"))[0] == 0
    event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    (lab.folder / "play.yml").write_text(PLAY)
    _code, output = lab.raw_play(str(lab.folder / "play.yml"))
    assert event in lab.approved(), f"web1 was not served, because of the liar's facts:\n{output.decode()[-2500:]}"
