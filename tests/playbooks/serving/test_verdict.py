# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose fault the lab calls a failed request. Everything that it cannot explain is ours."""

from __future__ import annotations

import pytest
from lab.load import Answer, taking
from verdict import Outage, _whose

WEBS = {"web1", "web2"}
NEVER = float("inf")


@pytest.mark.parametrize(
    ("outages", "whose"),
    [
        ([], "ours"),
        # A VM is left that could have served it, or the hit came by an approval.
        ([Outage("web1", "azure", 95, 105)], "ours"),
        ([Outage("web1", "azure", 90, 99), Outage("web2", "itself", 50, NEVER)], "ours"),
        ([Outage("web1", "approved", 95, 105), Outage("web2", "itself", 50, NEVER)], "ours"),
        ([Outage("web1", "approved", 95, 105), Outage("web2", "approved", 95, 105)], "ours"),
        ([Outage("web2", "itself", 97, NEVER)], "ours"),
        ([Outage("web1", "azure", 95, 105), Outage("web2", "itself", 50, NEVER)], "azure"),
        ([Outage("web1", "azure", 95, 105), Outage("web2", "azure", 95, 105)], "azure"),
        ([Outage("web1", "itself", 50, NEVER), Outage("web2", "itself", 50, NEVER)], "accident"),
        ([Outage("web2", "itself", 98.5, NEVER)], "accident"),
    ],
)
def test_whose_fault_a_failed_request_is(outages: list[Outage], whose: str) -> None:
    assert _whose(Answer(99.5, 100.0, 80, 503, ""), outages, WEBS, 1.5) == whose


def test_who_takes_sessions_is_read_from_the_answer_of_haproxy() -> None:
    rows = [
        "# pxname,svname,status,weight,bck", "web,web1,UP,1,0", "web,web2,UP 1/2,0,0", "web,web3,DRAIN,1,0", "web,web4,no check,1,0", "web,sorry,UP,1,1",
        "web,web5,MAINT (via api/web5),1,0",
    ]  # fmt: skip
    found = {server: word for (_backend, server), word in taking("\n".join(rows)).items()}
    assert found == {"web1": "in", "web2": "weight 0", "web3": "DRAIN", "web4": "in", "sorry": "backup", "web5": "MAINT (via api/web5)"}
