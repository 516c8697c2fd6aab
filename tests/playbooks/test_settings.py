# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrong settings, as an operator meets them: named with their hosts before an event needs them, red, and in one line each."""

from __future__ import annotations

import typing as t

import pytest
from lab.lab import Lab
from lab.simulator import ROOT

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.catalogue import built_in

KINDS = ", ".join(built_in("linux"))
TASKS = str(ROOT / "roles" / "respond" / "tasks" / "refuse.yml")
Make = t.Callable[..., Lab]
NO_ZONE = [{"drain": True, "approve": "after_drain", "window": {"timezone": "Europe/Berlin"}}]
TYPO = f"drain_methods, entry 1 (probefile): method must be {KINDS} (did you mean probe_file?)."


def misspell(lab: Lab, *vms: str) -> None:
    for vm in vms:
        lab.hosts[vm]["drain_methods"][0]["method"] = "probefile"


def test_a_misspelt_method_is_red_before_any_event_and_other_vms_are_served(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2", "db1"])
    misspell(lab, "web1", "web2")
    line = f"Wrong settings on web1, web2: {TYPO}"
    assert line in lab.status(code=2, respond_capacty=1)
    for arguments in ((), ("--check",)):
        output = lab.respond(*arguments, code=2)
        assert line in output
        assert f"wrong settings on web1, web2: {TYPO.rstrip('.')}" in output.split("fatal:")[1]
    for vm in ("web1", "db1"):
        lab.simulator.event("Reboot", [vm], notice=36000, started_seconds=600)
    output = lab.respond(code=2)
    assert "held: the settings of web1 are wrong" in output
    assert len(lab.simulator.approvals()) == 1
    assert (lab.records("web1")[0]["phase"], lab.flag("web1").exists()) == ("held", True)
    # Corrected, it is drained at once: no retry was used up.
    lab.hosts["web1"]["drain_methods"][0]["method"] = lab.hosts["web2"]["drain_methods"][0]["method"] = "probe_file"
    lab.respond()
    assert len(lab.simulator.approvals()) == 2


def test_a_gate_and_an_upgrade_refuse_to_begin(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    misspell(lab, "web2")
    tasks = lab.folder / "tasks.yml"
    tasks.write_text("- name: Nothing\n  ansible.builtin.meta: noop\n")
    for playbook, given in (("gate", {"gate_hosts": "web2"}), ("rolling_upgrade", {"upgrade_hosts": "all", "upgrade_name": "x", "upgrade_tasks": str(tasks)})):
        output = lab.play(f"maintenance.azure.{playbook}", code=2, **given)
        assert f"wrong settings on web2: {TYPO} Nothing was done." in output, playbook
        assert lab.leases("web1") == lab.leases("web2") == []


def test_a_misspelt_variable_is_warned_about_once(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    for vm in lab.vms:
        lab.hosts[vm]["drain_methds"] = []
    # Of the inventory a warning; an extra variable was meant for this run.
    output = " ".join(lab.respond(code=2, respond_capacty=1).split())
    for name, right in (("drain_methds", "drain_methods"), ("respond_capacty", "respond_capacity")):
        said = f"[WARNING]: The variable {name} is no option of maintenance.azure and has no effect. Did you mean {right}?"
        assert output.count(said) == 1
    end = output.partition("FAILED!")[2].partition('"msg": ')[2].partition("}")[0]
    assert "The variable respond_capacty is no option" in end and "drain_methds" not in end


@pytest.mark.parametrize(
    ("playbook", "given"), [("status", {"respond_notify_tset": True}), ("decide", {"decide_event_id": "zzzz", "decide_action": "hold", "decide_huors": 1})]
)
def test_a_misspelt_extra_variable_fails_the_run(idle_lab: Lab, playbook: str, given: dict[str, t.Any]) -> None:
    end = " ".join(idle_lab.play(f"maintenance.azure.{playbook}", code=2, **given).split()).partition("FAILED!")[2]
    assert f"The variable {list(given)[-1]} is no option of maintenance.azure and has no effect. Did you mean " in end


@pytest.mark.parametrize(
    ("playbook", "given", "words"),
    [
        ("status", {"status_format": "xml"}, "status_format must be one of text, json, not xml"),
        ("status", {"status_all_events": "perhaps"}, "status_all_events must be true or false, not perhaps"),
        ("status", {"status_hints": "perhaps"}, "status_hints must be true or false, not perhaps"),
        ("status", {"status_after_failure": "perhaps"}, "status_after_failure must be true or false, not perhaps"),
        ("respond", {"respond_notify_seconds": -5}, "respond_notify_seconds is -5; it must be more than 0 and 300 at most"),
        ("respond", {"respond_notify_message": "{{ no_such }}"}, "respond_notify_message: 'no_such' is undefined."),
        ("status", {"status_event_id": "zzzz"}, "no VM lists event zzzz or has a record of it"),
        ("status", {"respond_policy": "defualt"}, "there is no policy named 'defualt' (did you mean default?)"),
        ("status", {"respond_policy": NO_ZONE}, "(did you mean time_zone?)"),
        ("respond", {"respond_policy": NO_ZONE}, "(did you mean time_zone?)"),
        ("gate", {"respond_policy": NO_ZONE, "gate_hosts": "web1"}, "(did you mean time_zone?)"),
        ("decide", {"decide_event_id": "zzzz", "decide_action": "aprove", "decide_who": "me"}, "decide_action is 'aprove'"),
        ("decide", {"decide_event_id": "zzzz", "decide_action": "hold", "decide_who": "me"}, "no VM lists event zzzz"),
        ("respond", {"respond_unmanaged": "wat"}, "value of respond_unmanaged must be one of: wait, ignore, got: wat"),
        ("respond", {"respond_timing": "x"}, "respond_timing"),
        (
            "respond",
            {"respond_timing": {"lease_secs": 1}},
            "'lease_secs' (respond_timing) (did you mean lease_seconds?); there are: check_interval",
        ),
        ("respond", {"respond_wait_timeout": -5}, "respond_wait_timeout is -5; it must be 0 or more seconds"),
        ("respond", {"respond_timing": {"lease_seconds": 20}}, "lease_seconds is 20; it must be 151 to 21600: an action on a VM may take 150 seconds"),
        (
            "status",
            {"respond_capacity": [{"name": "web", "members": "{{ groups['unground'] }}", "max_unavailable": 1}]},
            "respond_capacity: the inventory has no group unground (did you mean ungrouped?).",
        ),
        ("gate", {"gate_hosts": "web1", "gate_wait_seconds": "2s"}, "gate_wait_seconds"),
        ("gate", {"gate_hosts": "web1", "gate_controller": True, "gate_controller_endpoint": "http://127.0.0.1:9"}, "cannot connect"),
        ("rolling_upgrade", {"upgrade_hosts": "all", "upgrade_name": "x", "upgrade_tasks": TASKS, "upgrade_by": "rack"}, "upgrade_by must be one of"),
    ],
    ids=str,
)
def test_an_error_is_one_line_and_printed_for_one_host(idle_lab: Lab, playbook: str, given: dict[str, t.Any], words: str) -> None:
    output = idle_lab.play(f"maintenance.azure.{playbook}", code=2, **given)
    assert words in output
    assert "<<< caused by >>>" not in output
    assert output.count("fatal: ") == 1
    assert len(output.split("fatal: ")[1].splitlines()[0]) < 700


def test_a_setting_of_the_fleet_on_one_host_is_a_warning(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.hosts["web2"]["respond_unmanaged"] = "ignore"
    output = " ".join(lab.respond().split())
    warning = "respond_unmanaged differs on web2 and has no effect there: that of web1, the first host of the play, counts for all"
    assert output.count(f"[WARNING]: {warning}") == 1
    assert "differs" not in lab.respond(respond_unmanaged="ignore"), "an extra variable is that of all hosts"


def test_a_key_of_respond_timing_that_an_option_overrides_is_a_warning(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    lab.all["respond_timing"] = {**lab.all["respond_timing"], "drain_seconds": 900, "run": "x"}
    output = " ".join(lab.respond().split())
    for warning in ("drain_seconds has no effect there; set respond_drain_seconds", "run has no effect there; remove it"):
        assert output.count(f"[WARNING]: respond_timing: {warning}") == 1


def test_a_wrong_setting_of_one_vm_is_red_and_other_vms_are_served(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2", "web3", "web4", "db1"])
    lab.hosts["web1"]["respond_health"] = lab.hosts["web2"]["respond_health"] = {"prot": 80}
    lab.hosts["web3"]["drain_methods"] = [{"method": "service", "names": ["{{ nosuch }}"]}]
    lab.hosts["web4"]["drain_methods"] = [{"method": "haproxy", "balancers": ["bd1"]}]
    for vm in ("web1", "web3", "web4", "db1"):
        lab.simulator.event("Reboot", [vm], notice=36000, started_seconds=600)
    lines = (
        "web1, web2: respond_health: there is no key prot (did you mean port?). Keys: port, url, file, service, host, timeout, validate_certs.",
        "web3: drain_methods: 'nosuch' is undefined.",
        "web4: drain_methods, entry 1 (haproxy): balancers: the inventory has no host bd1 (did you mean db1?).",
    )
    for output in (lab.status(code=2), lab.respond(code=2)):
        assert all(f"Wrong settings on {line}" in output for line in lines)
        ends = [line for line in output.splitlines() if line.startswith("fatal:")][-1]
        assert all(f"wrong settings on {line.rstrip('.')}" in ends for line in lines)
        assert "<<< caused by >>>" not in output
        assert all(f"Next: correct the settings of {vm}." in output for vm in ("web1", "web3", "web4"))
    assert [(one["vm"], len(lab.records(vm))) for one in lab.simulator.approvals() for vm in ("db1", "web1")] == [("db1", 1), ("db1", 0)]
    assert not lab.records_folder("web2").exists(), "it was not asked"
    for vm, line in (("web1", lines[0].replace("web1, web2", "web1")), ("web3", lines[1])):
        output = lab.play("maintenance.azure.gate", code=2, gate_hosts=vm, gate_wait_seconds=0)
        assert f"wrong settings on {line} Nothing was done." in output


def test_other_settings_of_one_vm(make_lab: Make) -> None:
    """That of the first host as well, though it has those of the fleet for all."""
    lab = make_lab(["web1", "web2"])
    wrong = {"respond_observation_seconds": 0, "respond_vm_name": ["web1"], "respond_exclude": "{{ nosuch }}", "respond_records_path": "relative"}
    lab.hosts["web1"].update(wrong, respond_api_version="2020-7-1")
    output = lab.respond(code=2)
    assert "1 of 2 VMs answered" in output and "Could not be read: web1: its settings are wrong." in output
    assert all(f"Wrong settings on web1: {name}" in output for name in (*wrong, "respond_api_version"))
    event = lab.simulator.event("Reboot", ["web2"], notice=36000)
    decided = lab.play("maintenance.azure.decide", code=2, decide_event_id=event, decide_action="hold", decide_who="me")
    assert f"Written on web2: {event}" in decided and "wrong settings on web1: respond_records_path is 'relative'" in decided
