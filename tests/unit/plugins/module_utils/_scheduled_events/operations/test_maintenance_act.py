# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All actions of one VM: each under its lease, each with a result of its own, and what one cannot do stops no other."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Answer, MethodError, NotYet
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed, HostAccess
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.failover_cluster import ClusterRole, ClusterState
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations import maintenance_act as module
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_act import act_arguments, act_on_vm
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, RUN, Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT
from ansible_collections.maintenance.azure.tests.unit.plugins.support import FakeTransport, document, raw_event

LEASE = {"run": RUN, "seconds": 60.0}


class Endpoint:
    """The endpoint of the VM; each client gets a connection of its own."""

    def __init__(self, *script):
        self.script = script or (document(3, raw_event(EventId=EVENT)),)
        self.opened = []

    def __call__(self, endpoint):
        transport = FakeTransport(*self.script, instance=json.dumps({"compute": {"name": "vm_0", "vmId": "VM-A"}}))
        self.opened.append(transport)
        return transport

    def posted(self):
        return [body for transport in self.opened for body in transport.sent("POST")]


class Acted:
    """One run of maintenance_act on a VM in a temporary folder."""

    def __init__(self, where):
        self.vm = Vm(where)
        self.endpoint = Endpoint()
        self.warnings = []
        self.check_mode = False

    def __call__(self, *actions, observe=False, **options):
        spec = act_arguments()
        given = {name: about.get("default") for name, about in spec.items()}
        given.update(records_path=self.vm.files.where, actions=list(actions), observe=observe, boot_id=self.vm.boot, endpoint="http://fake", retries=0)
        given.update(identity={"vm_id": self.vm.vm_id, "vm_name": "vm_0"}, **options)
        access = HostAccess(
            self.check_mode,
            self.warnings.append,
            connect=self.endpoint,
            files=lambda path: self.vm.files,
            host=lambda boot_id: self.vm.host,
            machine=lambda now: self.vm.machine,
        )
        found = act_on_vm(given, access)
        json.dumps(found)
        return found


@pytest.fixture
def act(tmp_path):
    return Acted(tmp_path)


def action(kind, **keys):
    return dict({"action": kind, "event_id": EVENT}, **keys)


def drain(**keys):
    return action("drain", **dict({"event": ABOUT, "methods": [step()]}, **keys))


def test_all_actions_in_order_and_then_one_observation(act, method):
    found = act(
        action("acquire", lease=LEASE), drain(lease=LEASE), action("approve", event_ids=[EVENT], lease=LEASE), action("release", lease=LEASE), observe=True
    )
    assert [(result["action"], result["failed"]) for result in found["results"]] == [
        ("acquire", False),
        ("drain", False),
        ("approve", False),
        ("release", False),
    ]
    assert [len(found["results"][place]["leases"]) for place in (0, 3)] == [1, 0]
    assert (found["results"][1]["state"], found["results"][2]["approved"], found["changed"]) == ("drained", [EVENT], True)
    assert act.endpoint.posted() == [{"StartRequests": [{"EventId": EVENT}]}]
    assert [(record["phase"], record["vm_id"]) for record in found["records"]] == [("approved", "VM-A")]
    assert found["records"][0]["approving_at"] <= found["records"][0]["approved_at"]
    assert (found["leases"], found["vm_name"], len(found["events"])) == ([], "vm_0", 1)


def test_an_action_that_fails_says_so_and_the_next_is_taken(act, method):
    found = act(action("explode"), drain(methods="x"), drain(lease=LEASE), drain(event_id="other", event={}))
    assert [result["failed"] for result in found["results"]] == [True, True, False, False]
    assert "action is 'explode'; known are acquire" in found["results"][0]["msg"]
    assert "methods must be a list" in found["results"][1]["msg"]
    # The lease is gone: that drain has failed, and nothing was touched.
    assert (found["results"][2]["state"], found["results"][3]["state"]) == ("failed", "drained")
    assert method.calls == ["find", "find", "begin", "check"]
    assert len(act.warnings) == 2 and all(EVENT in words for words in act.warnings)
    assert [result["event_id"] for result in found["results"]] == [EVENT, EVENT, EVENT, "other"]


@pytest.mark.parametrize("kind", ["drain", "undo", "recover", "approve"])
@pytest.mark.parametrize("event_id", [None, "", " "])
def test_an_action_without_an_event_writes_no_record(act, method, kind, event_id):
    found = act({"action": kind, "event_id": event_id, "methods": [step()], "event": {}, "event_ids": [event_id or ""]})
    assert found["results"][0]["failed"] and "event_id is missing" in found["results"][0]["msg"]
    assert (method.calls, act.endpoint.posted(), os.path.exists(act.vm.files.where)) == ([], [], False)


@pytest.mark.parametrize("steps", [None, {}, "x", [None], [{}], [{"id": 5, "kind": "none"}], [{"id": "a"}]])
def test_steps_that_cannot_be_read_are_an_error_of_that_action(act, steps):
    (result,) = act(drain(methods=steps))["results"]
    assert result["failed"] and result["error_kind"] == "bad_option"


@pytest.mark.parametrize("lease", [{"run": "x"}, {"run": RUN, "seconds": -1}, {"seconds": 5}])
def test_a_lease_that_cannot_be_one_is_an_error_of_that_action(act, method, lease):
    (result,) = act(drain(lease=lease))["results"]
    assert result["failed"] and "lease." in result["msg"] and method.calls == []


def test_a_record_that_cannot_be_read_is_an_error_and_stays(act, method):
    act(drain())
    act.vm.damage(lambda data: data.update(phase="sideways"))
    method.calls.clear()
    found = act(drain(), action("undo", methods=[step()]))
    assert [(result["failed"], result["error_kind"]) for result in found["results"]] == [(True, "records")] * 2
    assert method.calls == []


def test_no_approval_without_the_lease(act):
    (result,) = act(action("approve", event_ids=[EVENT], lease=LEASE))["results"]
    assert (result["failed"], result["error_kind"], act.endpoint.posted()) == (True, "lease_lost", [])
    assert "approved" not in result


def test_no_approval_where_one_intention_cannot_be_recorded(act, monkeypatch):
    act.vm.records.write("other", module.RecordChange())
    act.vm.vm_id = "VM-A"
    write = module.LeasedRecord.write

    def full(self, change):
        if self._event_id == "other":
            raise module.RecordsError("no room")
        return write(self, change)

    monkeypatch.setattr(module.LeasedRecord, "write", full)
    (result,) = act(action("approve", event_ids=[EVENT, "other"]))["results"]
    assert result["failed"] and act.endpoint.posted() == []


def test_the_intention_is_in_the_record_before_the_approval_is_sent(act):
    seen = []

    def observation():
        seen.append(act.vm.record()["approving_at"])
        return document(3, raw_event(EventId=EVENT))

    act.endpoint = Endpoint(observation)
    act(action("approve", event_ids=[EVENT]))
    assert seen and all(seen)


def test_an_approval_is_recorded_also_when_the_lease_was_lost_meanwhile(act):
    act.vm.take_lease()
    act.endpoint = Endpoint(lambda: (act.vm.lose_lease(), document(3, raw_event(EventId=EVENT.lower())))[1])
    (result,) = act(action("approve", event_ids=[EVENT], lease=LEASE))["results"]
    assert (result["failed"], result["approved"]) == (False, [EVENT.lower()])
    assert act.vm.record()["phase"] == "approved"


def test_an_event_that_names_others_is_not_approved(act):
    act.endpoint = Endpoint(document(3, raw_event(EventId=EVENT, Resources=["vm_0", "vm_9"])))
    (result,) = act(action("approve", event_ids=[EVENT], approve_for=["vm_0"]))["results"]
    assert result["failed"] and "vm_9" in result["msg"] and act.endpoint.posted() == []
    assert act.vm.record()["phase"] == "noticed"


def test_undo_and_recover_differ_in_what_they_keep(act, method):
    method.checks = [OSError("broken")]
    act(drain())
    (result,) = act(action("undo", methods=[step()], keep_phase=True))["results"]
    assert (result["state"], act.vm.record()["phase"], act.vm.record()["reason"]) == ("undone", "failed", "1-scripted: broken")
    act(drain())
    (result,) = act(action("recover", methods=[step()]))["results"]
    assert (result["state"], act.vm.record()["phase"]) == ("undone", "recovering")


def test_the_record_of_another_vm_is_not_undone(act, method):
    act(drain())
    act.vm.vm_id = "VM-B"
    (result,) = act(action("undo", methods=[step()]))["results"]
    assert result["state"] == "failed" and "undo" not in method.calls


def test_check_mode_touches_nothing(act, method):
    act.check_mode = True
    found = act(
        action("acquire", lease=LEASE), drain(), action("recover", methods=[step()]), action("approve", event_ids=[EVENT]), action("prune"), observe=True
    )
    assert [result.get("state") for result in found["results"]] == [None, "draining", "undoing", "approved", None]
    assert [result["failed"] for result in found["results"]] == [False] * 5
    # A drain looks, and says what it would do.
    assert (method.calls, act.endpoint.posted(), os.path.exists(act.vm.files.where)) == (["find"], [], False)
    assert (found["results"][1]["was"], found["results"][1]["would"]) == ({"1-scripted": "was in"}, {"1-scripted": "would drain: was in"})


def test_check_mode_says_what_would_be_refused_and_asks_the_others(act, method):
    act.check_mode = True
    wrong = step("service", "1-service", given={"names": ["no-such.service"]})
    (found,) = act(drain(methods=[wrong, step(identifier="2-scripted")], lease=LEASE))["results"]
    assert (found["state"], found["failed"]) == ("failed", False)
    assert found["error"].startswith("1-service: the option names holds no-such.service")
    assert found["would"]["1-service"].startswith("would be refused: the option names holds") and found["would"]["2-scripted"] == "would drain: was in"
    assert act.vm.services.calls == [] and not os.path.exists(act.vm.files.where)


@pytest.mark.parametrize("error", [NotYet("a master first"), MethodError("no quorum"), KeyError("x")])
def test_check_mode_says_why_a_drain_would_wait_or_be_refused(act, method, error):
    act.check_mode = True

    def find(machine, task):
        raise error

    method.find = find
    (found,) = act(drain())["results"]
    waits = isinstance(error, NotYet)
    assert found["state"] == ("draining" if waits else "failed")
    assert found["would"]["1-scripted"].startswith("would wait: a master first" if waits else "would be refused: ")


def test_check_mode_of_a_drain_that_has_begun_and_of_none(act, method):
    method.checks = ["draining"]
    act(drain())
    before, act.check_mode, method.calls[:] = act.vm.record(), True, []
    (found,) = act(drain())["results"]
    assert (found["would"], method.calls, act.vm.record()) == ({"1-scripted": "is begun already"}, [], before)
    (none,) = act(drain(methods=[]))["results"]
    assert none["state"] == "failed" and none["error"].startswith("There is no drain method")


def test_without_an_observation_the_results_are_not_lost(act, method):
    act.endpoint = Endpoint((200, ""))
    with pytest.raises(Failed) as caught:
        act(drain(), observe=True)
    assert caught.value.result["results"][0]["state"] == "drained" and caught.value.result["error_kind"]


@pytest.mark.parametrize(("error", "kind"), [(OSError("no space left"), "records"), (module.RecordsError("in a mess"), "records"), (KeyError(), "internal")])
def test_whatever_the_observation_fails_of_the_results_are_not_lost(act, method, monkeypatch, error, kind):
    def fails(*given):
        raise error

    monkeypatch.setattr(module, "observe", fails)
    with pytest.raises(Failed) as caught:
        act(drain(), action("explode"), observe=True)
    found = caught.value.result
    assert [(result["failed"], result["changed"]) for result in found["results"]] == [(False, True), (True, False)]
    assert (found["msg"], found["error_kind"], found["changed"]) == (str(error) or "KeyError", kind, True)
    # Nothing in it may be taken for an observation: no events is not the same as no answer.
    assert not {"events", "records", "in_service", "identity"} & set(found)
    assert act.vm.record()["phase"] == "drained"


def test_a_vm_that_is_lost_has_no_result(act, method, monkeypatch):
    class Lost(Exception):
        pass

    def fails(*given):
        raise Lost

    act.vm.machine = act.vm.machine._replace(is_lost=lambda error: isinstance(error, Lost))
    monkeypatch.setattr(module, "observe", fails)
    with pytest.raises(Lost):
        act(drain(), observe=True)
    method.checks = [Lost()]
    with pytest.raises(Lost):
        act(drain())


def test_nothing_is_asked_of_the_endpoint_that_is_not_needed(act, method):
    act(drain(), action("write", changes={"told": ["drained"]}))
    assert act.endpoint.opened == []
    assert act.vm.record()["told"] == ["drained"]


def test_a_note_that_is_bound_to_a_revision_is_refused_when_another_has_written(act):
    act(action("write", event=ABOUT, changes={"phase": "held"}))
    found = act(action("write", changes={"phase": "noticed"}, expected_revision=7), action("write", changes={"reason": "x"}, expected_revision=1))
    assert [result["failed"] for result in found["results"]] == [True, False] and found["results"][0]["error_kind"] == "conflict"
    assert act.warnings == [], "a race of two runs is ordinary: the next iteration decides anew"


def test_each_phase_is_one_line_in_the_log_of_the_vm(act, method):
    lines = []
    access = HostAccess(
        False, act.warnings.append, files=lambda path: act.vm.files, host=lambda boot_id: act.vm.host, machine=lambda now: act.vm.machine, log=lines.append
    )
    options = {name: about.get("default") for name, about in act_arguments().items()}
    options.update(actions=[drain(event={**ABOUT, "event_type": "Re\nboot \x1b[31m"})], observe=False)
    act_on_vm(options, access)
    assert len(lines) == 2 and all("\n" not in line and "\x1b" not in line for line in lines)


class Cluster:
    """In place of a failover cluster; it notes each call."""

    def __init__(self):
        self.calls, self.error = [], None

        self.owner = "SQL1"

    def describe(self):
        return ClusterState("sql", 1, "SQL2", [], [ClusterRole("Files", "SQL2", "Online"), ClusterRole("orders", self.owner, "Online")])

    def take_over(self, instance, group):
        self.calls.append((instance, group))
        if self.error:
            raise self.error


@pytest.fixture
def cluster(act):
    act.vm.machine = act.vm.machine._replace(failover_cluster=Cluster())
    return act.vm.machine.failover_cluster


TAKE_OVER = {"action": "take_over", "instance": "SQL2", "group": "Orders", "primary": ["db1", "sql1"]}


def test_a_replica_takes_over_and_nothing_else_is_asked_of_its_vm(act, cluster, monkeypatch):
    monkeypatch.setattr(module, "boot_id_of", lambda files, host: pytest.fail("nobody asks for the boot"))
    (result,) = act(TAKE_OVER)["results"]
    assert (result, cluster.calls) == ({"action": "take_over", "event_id": "", "failed": False, "changed": True}, [("SQL2", "Orders")])
    assert not os.path.exists(act.vm.files.where)
    cluster.error = OSError("SQL2 was to take over: no")
    (result,) = act(TAKE_OVER)["results"]
    assert (result["failed"], result["msg"]) == (True, "SQL2 was to take over: no")


def test_check_mode_fails_nothing_over(act, cluster):
    act.check_mode = True
    assert act(TAKE_OVER)["results"][0]["changed"] and cluster.calls == []


@pytest.mark.parametrize("missing", ["instance", "group", "primary"])
def test_a_failover_names_what_where_and_from_whom(act, cluster, missing):
    (result,) = act({**TAKE_OVER, missing: ""})["results"]
    assert (result["error_kind"], result["msg"], cluster.calls) == ("bad_option", "group, instance and primary must be given", [])


@pytest.mark.parametrize(("owner", "where"), [("SQL3", "SQL3"), ("", "no node"), ("SQL10", "SQL10")])
def test_nothing_takes_over_from_another_node_than_that_of_the_vm_that_drains(act, cluster, owner, where):
    cluster.owner = owner
    for act.check_mode in (False, True):
        (result,) = act(TAKE_OVER)["results"]
        words = f"SQL2 does not take over availability group Orders: it is on {where}, and not on db1 or sql1"
        assert (result["failed"], result["msg"], cluster.calls) == (True, words, [])


def test_nothing_takes_over_a_group_that_the_cluster_does_not_have(act, cluster):
    (result,) = act({**TAKE_OVER, "group": "Bills"})["results"]
    assert (result["failed"], "it is on no node" in result["msg"], cluster.calls) == (True, True, [])


def test_there_is_no_failover_without_a_cluster(act):
    (result,) = act(TAKE_OVER)["results"]
    assert (result["error_kind"], result["msg"]) == ("bad_option", "there is no failover cluster on this system")


def test_what_a_method_notes_and_hands_over_is_in_the_result(act, method):
    method.checks = [Answer("drained", note="Nothing was done.\x1b[2J")]
    (result,) = act(drain(stop_at_finding=True))["results"]
    assert (result["warning"], result["handover"], act.warnings) == ("Nothing was done.\x1b[2J", {}, ["Nothing was done.\\x1b[2J"])
    method.handover = lambda machine, task: {"Orders": " ".join((task.members["sql2"], task.resources[0], task.present["was"]))}
    method.checks = ["lost"]
    (result,) = act(drain(stop_at_finding=True, members={"sql2": "two"}))["results"]
    assert (result["state"], result["handover"], method.calls[-1]) == ("found", {"Orders": "two vm_0 in"}, "find")


def test_the_mark_of_the_host_is_left_and_an_observation_returns_those_that_are_there(act):
    assert "host_marks" not in act(host_mark="1" * 32)
    assert act(host_mark="2" * 32, observe=True)["host_marks"] == ["2" * 32, "1" * 32]
    assert "host_marks" not in act(observe=True)
    act.check_mode = True
    assert "host_marks" not in act(host_mark="3" * 32, observe=True)
    assert not [name for name in os.listdir(act.vm.files.where) if "3" * 32 in name]


def test_without_its_mark_a_vm_is_observed_all_the_same(act):
    found = act(action("write", changes={"phase": "noticed"}, event=ABOUT), host_mark="x", observe=True)
    assert (found["vm_name"], found["results"][0]["failed"], "host_marks" in found) == ("vm_0", False, False)
    assert "host_mark must be 32 hexadecimal digits" in act.warnings[0]


def test_an_observation_alone_is_not_changed(act):
    found = act(observe=True)
    assert (found["results"], found["changed"], found["records"]) == ([], False, [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.fixed_dictionaries(
        {"action": st.sampled_from(["drain", "undo", "recover"])},
        optional={
            **dict.fromkeys(("event", "deadline", "late", "rule", "verify", "problem", "complete", "stop_at_finding", "keep_phase"), JSON),
            "reports": st.lists(JSON, max_size=2),
            "methods": JSON
            | st.lists(
                st.fixed_dictionaries(
                    {"id": st.text(max_size=5), "kind": st.sampled_from(["none", "service", "x"])},
                    optional=dict.fromkeys(("given", "where", "runs", "ends", "report", "outside"), JSON),
                ),
                max_size=3,
            ),
        },
    )
)
def test_any_order_has_a_result(tmp_path_factory, order):
    act = Acted(tmp_path_factory.mktemp("vm"))
    for kind in (order["action"], "recover"):
        (result,) = act({**order, "action": kind, "event_id": EVENT})["results"]
        assert result["failed"] or result["state"] in ("drained", "draining", "found", "failed", "undone", "undoing")


def test_it_looks_for_services_that_a_method_is_for_only_if_asked(act, monkeypatch):
    monkeypatch.setattr(registry.METHODS["service"], "units", ("db.service", "web.service", "old.service"), raising=False)
    act.vm.machine.services.present.update({"db.service": "active", "old.service": "failed", "other.service": "active"})
    assert "services" not in act(observe=True)
    assert act(observe=True, look_for_services=True)["services"] == ["db.service"]
    act.vm.machine.services.refuses = "systemctl cannot be run"
    assert "services" not in act(observe=True, look_for_services=True) and act.warnings == [], "each VM without systemd would warn"
    act.vm.host.system = "windows"
    assert "services" not in act(observe=True, look_for_services=True)


def test_what_a_method_has_to_tell_when_it_is_undone_is_a_warning(act, method):
    act(drain())
    method.undos = [Answer("undone", note="A person has\x1b drained it.")]
    (result,) = act(action("undo", methods=[step()]))["results"]
    assert (result["state"], result["warning"], act.warnings) == ("undone", "A person has\x1b drained it.", ["A person has\\x1b drained it."])
