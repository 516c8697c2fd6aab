# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible import context
from ansible.errors import AnsibleError, AnsibleLookupError

from ansible_collections.maintenance.azure.plugins.lookup.latest_pass import LookupModule
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.latest_pass import left_out


class Lookup(LookupModule):
    """The lookup, with a group as the pattern: what Ansible makes of others is tested in tests/playbooks/test_respond_plays.py."""

    def _matching(self, variables: dict[str, t.Any]) -> list[str]:
        return list(variables["groups"][variables["pattern"]])


def look_up(part: str, hostvars: dict[str, t.Any], pattern: str = "all", **own: t.Any) -> t.Any:
    groups = {"all": list(hostvars), "ungrouped": list(hostvars), "some": ["web1"]}
    (found,) = Lookup().run([part], variables={"groups": groups, "hostvars": hostvars, "pattern": pattern, **own})
    return found


def state(began: float, number: int, *staying: str) -> dict[str, t.Any]:
    known = {"request": {"secret": f"{began}"}, "began": began, "number": number, "do": "end", "staying": list(staying), "plan": {"made": number, "fails": []}}
    return {**dict.fromkeys(pass_loop.KEYS), **known}


class Broken(dict[str, t.Any]):
    """Hosts, of which one has variables that cannot be decrypted."""

    def __getitem__(self, host: str) -> t.Any:
        if host == "broken":
            raise AnsibleError("no vault secrets found")
        return super().__getitem__(host)


FORGED = state(9e9, 1, "web2")


def test_each_part() -> None:
    hostvars = Broken({"web1": {"__respond_loop": state(1.0, 4, "web1")}, "web2": {"__respond_loop": state(1.0, 0, "web1")}, "broken": {}})
    hostvars["web1"]["__respond_loop"]["do"] = "act"
    assert look_up("acting_hosts", hostvars) == ["web1"]
    assert look_up("all_hosts", hostvars) == ["web1", "web2"]
    assert look_up("all_hosts", hostvars, "some") == ["web1"]
    assert look_up("plan", hostvars, __respond_loop=state(1.0, 0, "web1", "broken"))["made"] == 4, "a host that left has an earlier state"
    assert look_up("plan", hostvars, __respond_loop=state(1.0, 5, "web1"))["made"] == 5


def test_before_any_play_there_is_no_pass_and_no_error() -> None:
    found = Lookup().run(["acting_hosts"], variables={"groups": {"all": ["web1"]}, "pattern": "all"})
    assert found == [["all", "!all"]]


def test_a_fact_does_not_stand_for_a_pass() -> None:
    liar = {"__respond_loop": FORGED, "ansible_facts": {"__respond_loop": FORGED}}
    hostvars = {"web1": {"__respond_loop": state(1.0, 4, "web1", "web2")}, "web2": liar}
    hostvars["web1"]["__respond_loop"]["do"] = "act"
    assert look_up("acting_hosts", hostvars) == ["web1", "web2"]
    assert look_up("all_hosts", hostvars) == ["web1"]
    assert look_up("plan", hostvars, __respond_loop=state(1.0, 0, "web1", "web2"))["made"] == 4


@pytest.mark.parametrize("part", ["plan", "everything"])
def test_what_it_does_not_have_is_an_error(part: str) -> None:
    with pytest.raises(AnsibleLookupError, match=f"It was asked for '{part}'"):
        look_up(part, {"web1": {}})


def test_the_plan_of_a_pass_that_ended_early_fails() -> None:
    cut_off = {**state(1.0, 4, "web1"), "do": "act"}
    assert look_up("plan", {"web1": {}}, __respond_loop=cut_off)["fails"] == ["the pass ended before its plan was carried out; run it again"]
    assert look_up("plan", {"web1": {}}, __respond_loop=state(1.0, 4, "web1"))["fails"] == []


def test_a_run_without_a_report_of_its_pass_is_an_error() -> None:
    reported, not_reported = ({"__respond_loop": state(1.0, 4, "web1"), "__respond_reported": secret} for secret in ("1.0", "0.5"))
    liar = {"__respond_loop": FORGED, "__respond_reported": f"{FORGED['began']}", "ansible_facts": {"__respond_loop": FORGED}}
    nothing: dict[str, t.Any] = {}
    assert look_up("reported", {"gone": nothing, "web1": reported}) == look_up("reported", {}) == ["all", "!all"]
    for hosts in ({"web1": not_reported}, {"web1": nothing}, {"web1": liar}, {"web1": not_reported, "web2": reported}):
        with pytest.raises(AnsibleLookupError, match="No pass was reported in this run"):
            look_up("reported", hosts)


def test_what_left_out_the_tasks_is_named() -> None:
    assert left_out({"tags": ("all",), "skip_tags": (), "start_at_task": None, "step": False}) == left_out({}) == ""
    given = {"tags": ("a", "b"), "skip_tags": ("all",), "start_at_task": "Report", "step": True}
    assert left_out(given) == " (--tags a,b, --skip-tags all, --start-at-task Report, --step)"
    assert left_out({"subset": "web2"}) == " (--limit web2)"


@pytest.mark.parametrize("part", ["reported", "report"])
def test_where_a_limit_has_left_out_every_host_nothing_was_reported(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # No play has run, so there are no hostvars.
    variables = {"groups": {"all": ["web1"]}, "pattern": "all"}
    monkeypatch.setattr(context, "CLIARGS", {"subset": "web2"})
    with pytest.raises(AnsibleLookupError, match=r"its tasks were left out or ended early \(--limit web2\)"):
        Lookup().run([part], variables=variables)
    monkeypatch.setattr(context, "CLIARGS", {"subset": "web2", "listtasks": True})
    assert Lookup().run([part], variables=variables) == [["all", "!all"]]


def test_a_run_of_playbook_report_without_a_report_fails() -> None:
    made: dict[str, t.Any] = {"__respond_report": {"lines": ["no events"]}}
    assert look_up("report", {"web1": {}, "web2": made}) == ["all", "!all"]
    began: dict[str, t.Any] = {"web1": {"__respond_report": {"shares": {}}}}
    forged: dict[str, t.Any] = {"web1": {**made, "ansible_facts": made}}
    for hostvars in ({"web1": {}}, began, forged):
        with pytest.raises(AnsibleLookupError, match="No report was made in this run: its tasks were left out or ended early"):
            look_up("report", hostvars)
