# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""With a strategy under which each host goes on by itself, a pass would plan with observations that are not there: it is refused."""

from __future__ import annotations

import typing as t

import pytest
from victims import Victims

Make = t.Callable[..., Victims]


@pytest.mark.parametrize("strategy", ["free", "ansible.builtin.host_pinned"])
def test_a_strategy_that_lets_hosts_go_on_alone_is_refused(make_victims: Make, strategy: str) -> None:
    lab = make_victims(["liar", "web1"])
    lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    (lab.folder / "play.yml").write_text(f"- hosts: liar,web1\n  gather_facts: false\n  strategy: {strategy}\n  roles: [maintenance.azure.respond]\n")
    code, output = lab.raw_play(str(lab.folder / "play.yml"))
    assert code != 0
    assert b"strategy linear" in output, output.decode()[-1500:]
    assert lab.approved() == set()
    assert not list(lab.records_folder("web1").glob("*.json")), "something was done"
