# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import latest_pass, pass_loop

NONE = ["all", "!all"]


def state(began: float, number: int = 0, do: str = "act", staying: tuple[str, ...] = ("web1", "web3")) -> dict[str, t.Any]:
    """Return a state of the pass that began then."""
    return {**dict.fromkeys(pass_loop.KEYS), "request": {"secret": f"{began}"}, "began": began, "number": number, "do": do, "staying": list(staying)}


def test_without_a_pass_no_host_is_matched() -> None:
    registered = {"web1": {"request": {}}, "web2": None, "web3": "text", "web4": []}
    assert latest_pass.latest(registered) is None
    assert latest_pass.acting_hosts(registered) == latest_pass.all_hosts(registered) == NONE


def test_a_host_that_left_an_earlier_play_has_an_earlier_state() -> None:
    registered = {"web1": state(5.0, 7, do="end"), "web2": state(5.0), "web3": state(5.0, 8, do="end")}
    assert latest_pass.latest(registered) == registered["web3"]
    assert latest_pass.last_of(t.cast(t.Any, registered["web2"]), registered) == registered["web3"]
    assert latest_pass.acting_hosts(registered) == NONE, "the pass is over"
    assert latest_pass.all_hosts(registered) == ["web1", "web2", "web3"]


def test_an_earlier_pass_of_the_same_run_of_ansible_does_not_count() -> None:
    earlier = state(5.0, 90, staying=("web1",))
    registered = {"web1": earlier, "web2": state(6.0, staying=("web2", "web3")), "web3": state(6.0, staying=("web2", "web3"))}
    assert latest_pass.acting_hosts(registered) == latest_pass.all_hosts(registered) == ["web2", "web3"]
    assert latest_pass.last_of(t.cast(t.Any, registered["web2"]), registered) == registered["web2"]
    assert latest_pass.acting_hosts({"web1": earlier, "web2": state(6.0, do="end")}) == NONE


def test_no_host_acts_that_the_first_play_did_not_have() -> None:
    """web1 failed before the second import, whose only host it was, and so has the state of the first one, in which web2 took part."""
    assert latest_pass.acting_hosts({"web1": state(5.0, staying=("web1", "web2"))}) == ["web1"]


def test_a_host_whose_facts_have_settings_does_not_say_which_pass_is_the_latest() -> None:
    registered = {"web1": state(5.0), "liar": state(9e9, staying=("liar",))}
    assert latest_pass.latest(registered, ["liar"]) == registered["web1"]
    assert latest_pass.acting_hosts(registered, ["liar"]) == latest_pass.all_hosts(registered, ["liar"]) == ["web1"]
    # Its facts came after it had registered the pass, and no other host is there to report that.
    assert latest_pass.all_hosts({"web1": state(5.0)}, ["web1"]) == ["web1"]
    assert latest_pass.all_hosts({"web1": state(5.0), "web2": state(5.0, 3)}, ["web2"]) == ["web1"]
    assert latest_pass.latest({"web1": state(5.0), "web2": state(5.0, 3)}, ["web2"]) == state(5.0, 3), "no fact has the secret of the pass"


@pytest.mark.parametrize("lie", [{"request": "x"}, {"request": {"secret": 1}}, {"began": "9e9"}, {"number": None}, {"staying": 5}, {"staying": [{}]}], ids=str)
def test_a_fact_of_any_shape_stops_nothing(lie: dict[str, t.Any]) -> None:
    """A VM that failed in an earlier play takes no part, and a fact of it may be anything."""
    forged = {**state(9e9), **lie}
    registered = {"liar": forged, "web1": state(5.0)}
    assert latest_pass.acting_hosts(registered, ["liar"]) == latest_pass.all_hosts(registered, ["liar"]) == ["web1"]
    assert latest_pass.last_of(t.cast(t.Any, state(5.0)), registered) == state(5.0)
    assert latest_pass.acting_hosts({"liar": forged}, ["liar"]) == latest_pass.all_hosts({"liar": forged}, ["liar"]) == NONE
