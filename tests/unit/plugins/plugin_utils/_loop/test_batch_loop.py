# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The iterations of role upgrade: when a VM is drained or recovered, when it has failed, and that each does so by itself."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import batch_loop, gate_loop, pass_loop, vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.batch_loop import DRAIN, RECOVER, MethodsState
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import actions
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, event, method, record, vm

ROLES = pathlib.Path(batch_loop.__file__).parents[3] / "roles"
ID = "upgrade:Kernel"
LEASE = {"run": "run000mine", "seconds": 700.0, "who": "alice"}
ON_VM = [{"method": "probe_file", "path": "/run/flag"}]
OUTSIDE = [{"method": "haproxy", "balancers": ["lb1"]}]
AT_BALANCER = [method(id="1-haproxy", method="haproxy", outside=True)]
FOLDERS = ["roles/drain/tasks/methods"]
SILENT = {"unreachable": True, "msg": "no route to host"}
BROKEN = {"failed": True, "msg": "Timed out after 30 seconds."}
# Whatever a VM may make of what its tasks register.
KEYS = (
    "events",
    "records",
    "asked",
    "results",
    "action",
    "iteration",
    "state",
    "failed",
    "unreachable",
    "msg",
    "event",
    "event_id",
    "phase",
    "methods",
    "undone",
)
JUNK: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["drain", "drained", "recover", "undone", ID]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=10,
)


def written(phase: str, **more: Any) -> dict[str, Any]:
    """Return the upgrade's record on a VM."""
    return record(phase, event(ID, due=None), **more)


class MethodsLoop:
    """One drain or one recovery of a batch, by hand: a clock, and what the hosts have registered."""

    def __init__(self, act: str = DRAIN, hosts: Sequence[str] = ("vm1",), *, methods: Any = None, seconds: float = 600, interval: float = 5) -> None:
        self.act = act
        self.now = NOW
        self.hosts = list(hosts)
        self.asks: dict[str, batch_loop.Ask] = {host: {"lease": LEASE, "seconds": seconds, "interval": interval, "keeper": ""} for host in hosts}
        self.methods: dict[str, Any] = dict.fromkeys(hosts, methods or ON_VM)
        self.observed: dict[str, Any] = {}
        self.acted: dict[str, Any] = {}
        for host in hosts:
            self.observations(host, *([] if act == DRAIN else [written("drained")]))
        self.state: MethodsState

    def observations(self, host: str, *records: Any, **more: Any) -> None:
        """Register a good observation of a host."""
        self.observed[host] = {**vm(host, (), records, now=at(self.now - NOW), **more)["observation"], "changed": False}

    def answers(self, host: str, **result: Any) -> None:
        """Register the result of what a host was asked for, beside its last observation."""
        (action,) = self.state["actions"][host]
        asked = [{key: action.get(key) for key in ("action", "event_id", "event_ids", "iteration")}]
        self.observed[host] = {**self.observed[host], "asked": asked, "results": [{"action": action["action"], "failed": False, **result}]}

    def begin(self) -> MethodsLoop:
        vms = {host: vm_settings.read({"drain_methods": self.methods[host], "folders": FOLDERS}, host) for host in self.hosts}
        request: batch_loop.MethodsRequest = {"action": self.act, "upgrade": "Kernel", "places": []}
        self.state = batch_loop.begin(request, self.asks, vms, self._results, self.now)
        return self

    def _results(self, host: str) -> HostResults:
        return HostResults(self.observed.get(host), self.acted.get(host), {}, {})

    def go_on(self, seconds: float = 1) -> MethodsState:
        self.now += seconds
        before = repr(self.state)
        after = batch_loop.go_on(self.state, self._results, self.now)
        assert repr(self.state) == before, "a state is never changed"
        assert after.keys() == batch_loop.KEYS
        assert set(after["contact"]) <= set(after["involved"])
        assert after["do"] == "pause" or after["pause"] == 0 or after["do"] == "end"
        self.state = after
        return after

    def again(self) -> MethodsState:
        """Wait as long as the state says, and take what comes then."""
        assert self.state["do"] == "pause"
        return self.go_on(self.state["pause"])

    def of(self, host: str = "vm1") -> tuple[str, str | None]:
        return self.state["progress"][host]["state"], self.state["progress"][host]["error"]


def failed(words: str | None) -> tuple[str, str | None]:
    return ("failed", words)


def test_restarts_that_ended_under_this_upgrade_are_named_and_no_others() -> None:
    def approved(event_id: str, upgrade: str = "Kernel", phase: str = "started") -> dict[str, Any]:
        return record(phase, event(event_id), rule={"name": f"ordered by upgrade {upgrade}", "upgrade": upgrade})

    loop = MethodsLoop(RECOVER)
    records = [approved("ENDED"), approved("LISTED"), approved("OTHERS", "Other"), approved("CLOSED", phase="recovered"), written("drained")]
    loop.observed["vm1"] = {**vm("vm1", [event("listed")], records)["observation"], "changed": False}
    assert loop.begin().state["restarts"] == {"vm1": ["ENDED"]}
    # By the last observation: one that ended meanwhile is named, too.
    loop.observed["vm1"] = {**vm("vm1", (), records)["observation"], "changed": False}
    loop.answers("vm1", state="undone")
    assert loop.go_on()["restarts"] == {"vm1": ["ENDED", "LISTED"]}


# What fails


@pytest.mark.parametrize("act", [DRAIN, RECOVER])
@pytest.mark.parametrize(
    ("observed", "words"),
    [
        (SILENT, "The VM cannot be reached."),
        (BROKEN, "Timed out after 30 seconds."),
        (None, "it was not observed"),
        ({"failed": True, "msg": "evil", "asked": [], "results": []}, "evil"),
    ],
)
def test_a_vm_that_does_not_answer_has_failed_and_the_others_go_on(act: str, observed: Any, words: str) -> None:
    its = MethodsLoop(act, ["vm1", "vm2"]).begin()
    its.answers("vm2", state={DRAIN: "drained", RECOVER: "undone"}[act])
    its.observed["vm1"] = observed
    assert its.go_on()["do"] == "end"
    assert its.of("vm1") == failed(words)
    assert its.of("vm2") == ("done", None)


def test_a_good_observation_without_an_answer_is_a_failure() -> None:
    its = MethodsLoop().begin()
    its.observations("vm1", written("drained"))
    its.go_on()
    assert its.of() == failed("It did not answer what it was asked for.")


def test_an_answer_of_an_earlier_drain_counts_for_nothing() -> None:
    first = MethodsLoop().begin()
    first.answers("vm1", state="drained")
    second = MethodsLoop()
    second.now += 60
    second.begin()
    assert second.state["number"] == first.state["number"] == 0
    second.acted["vm1"] = first.observed["vm1"]
    second.observed["vm1"] = BROKEN
    second.go_on()
    assert second.of() == failed("Timed out after 30 seconds.")


@pytest.mark.parametrize("act", [DRAIN, RECOVER])
@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"failed": True, "msg": "The lease of run run000mine is gone.", "state": "drained"}, "The lease of run run000mine is gone."),
        ({"state": "failed", "error": "1-probe_file: no such folder"}, "1-probe_file: no such folder"),
        ({"state": "found"}, None),
        ({"error": "no state"}, "no state"),
        ({"state": ["drained"]}, None),
    ],
)
def test_what_could_not_be_done_on_the_vm_has_failed_at_once(act: str, result: dict[str, Any], words: str | None) -> None:
    its = MethodsLoop(act).begin()
    its.answers("vm1", **result)
    assert its.go_on()["do"] == "end"
    assert its.of() == failed(words)


@pytest.mark.parametrize(("act", "state"), [(DRAIN, "undone"), (DRAIN, "undoing"), (RECOVER, "drained"), (RECOVER, "draining")])
def test_the_state_of_the_other_action_is_a_failure(act: str, state: str) -> None:
    its = MethodsLoop(act).begin()
    its.answers("vm1", state=state)
    its.go_on()
    assert its.of() == failed(None)


def test_what_tasks_have_recorded_as_failed_has_failed_with_its_reason() -> None:
    its = MethodsLoop(methods=OUTSIDE).begin()
    assert its.state["do"] == "by_tasks"
    its.observations("vm1", written("failed", reason="lb1: no such backend"))
    assert its.go_on()["do"] == "end"
    assert its.of() == failed("lb1: no such backend")


@pytest.mark.parametrize(
    ("act", "before", "after"),
    [
        # Nothing was drained before, and nothing is recorded now.
        (DRAIN, [], []),
        # Drained before, and not verified now.
        (DRAIN, [written("drained", methods=AT_BALANCER)], [written("drained", methods=AT_BALANCER)]),
        (DRAIN, [written("recovered")], [written("recovered")]),
        (RECOVER, [written("drained", methods=AT_BALANCER)], [written("drained", methods=AT_BALANCER)]),
        (RECOVER, [written("drained", methods=AT_BALANCER)], []),
    ],
)
def test_what_tasks_could_not_record_has_failed(act: str, before: list[Any], after: list[Any]) -> None:
    its = MethodsLoop(act, methods=OUTSIDE)
    its.observations("vm1", *before)
    its.begin()
    assert its.state["do"] == "by_tasks"
    its.now += 1
    its.observations("vm1", *after)
    its.go_on()
    assert its.of() == failed("Nothing of it was recorded on the VM.")


@pytest.mark.parametrize(("observed", "words"), [(SILENT, "The VM cannot be reached."), ("the same", "It did not answer what it was asked for.")])
def test_a_vm_that_has_left_the_loop_while_tasks_were_at_work_has_failed(observed: Any, words: str) -> None:
    """Its last observation is still there, and would say for ever that it drains."""
    its = MethodsLoop(methods=OUTSIDE)
    its.observations("vm1", written("draining"))
    its.begin()
    if observed != "the same":
        its.observed["vm1"] = observed
    its.go_on()
    assert its.of() == failed(words)


def test_a_drain_whose_last_observation_came_after_its_deadline_has_failed() -> None:
    its = MethodsLoop(seconds=10, interval=5).begin()
    for _observation in range(3):
        assert its.state["do"] == "act"
        its.answers("vm1", state="draining", error="3 connection(s) open")
        its.go_on()
        if its.state["do"] == "pause":
            its.again()
    assert its.now - NOW == 13, "looked at at 0, at 6 and at 12 s"
    assert its.of() == failed("3 connection(s) open")
    assert its.state["do"] == "end"


def test_a_drain_that_was_looked_at_in_time_does_not_fail_in_the_middle_of_the_observation() -> None:
    its = MethodsLoop(seconds=10).begin()
    its.answers("vm1", state="draining")
    its.go_on(60)
    assert its.of() == ("goes_on", None)


def test_a_recovery_fails_when_its_time_is_over() -> None:
    its = MethodsLoop(RECOVER, seconds=10).begin()
    its.answers("vm1", state="undoing", error="vm1: method 1-haproxy is no longer in drain_methods")
    its.go_on(10)
    assert its.of() == ("goes_on", "vm1: method 1-haproxy is no longer in drain_methods")
    its.again()
    its.answers("vm1", state="undoing", error="")
    its.go_on()
    assert its.of() == failed(None)


def test_records_that_cannot_be_read_are_not_taken_for_none() -> None:
    its = MethodsLoop(RECOVER)
    its.observations("vm1", records_readable=False, records_problems=["event-1.json is damaged: remove it"])
    its.begin()
    assert its.of() == failed("Its records could not be read. event-1.json is damaged: remove it")
    assert its.state["do"] == "end"


@pytest.mark.parametrize(("act", "state"), [(DRAIN, "drained"), (RECOVER, "undone")])
def test_what_is_done_is_over_when_it_was_observed(act: str, state: str) -> None:
    """What comes after the loop reads the observation."""
    its = MethodsLoop(act, ["vm1", "vm2"], seconds=100).begin()
    its.answers("vm2", state=state)
    its.answers("vm1", state=state)
    its.observed["vm1"] = {**{key: its.observed["vm1"][key] for key in ("asked", "results")}, **BROKEN}
    its.go_on()
    assert its.of() == ("done", "vm1 could not be observed: Timed out after 30 seconds.")
    assert its.state["do"] == "pause"
    assert its.again()["do"] == "act"
    assert (its.state["contact"], its.state["actions"]) == (["vm1"], {}), "it is observed, and nothing more"
    its.observations("vm1", written("drained"))
    assert its.go_on()["do"] == "end"
    assert its.of()[0] == "done"


@pytest.mark.parametrize("methods", [ON_VM, OUTSIDE])
def test_what_is_never_observed_fails_when_its_time_is_over(methods: Any) -> None:
    its = MethodsLoop(seconds=12, methods=methods).begin()
    if methods is ON_VM:
        its.answers("vm1", state="drained")
        its.observed["vm1"] = {**{key: its.observed["vm1"][key] for key in ("asked", "results")}, **BROKEN}
    else:
        its.observed["vm1"] = BROKEN
    done = []
    while its.go_on(5)["do"] != "end":
        done.append(its.state["do"])
        assert not its.state["actions"] and not its.state["stages"]
    assert done == ["pause", "act", "pause", "act"], "planned at 0, at 10 and at 20 s"
    assert its.of() == failed("vm1 could not be observed: Timed out after 30 seconds.")


@given(observed=JUNK, acted=JUNK, act=st.sampled_from([DRAIN, RECOVER]), methods=st.sampled_from([ON_VM, OUTSIDE]))
def test_whatever_a_vm_registers_it_is_not_done_by_it_and_keeps_none_of_the_others(observed: Any, acted: Any, act: str, methods: Any) -> None:
    its = MethodsLoop(act, ["vm1", "vm2"])
    its.methods["vm1"] = methods
    its.begin()
    its.answers("vm2", state={DRAIN: "drained", RECOVER: "undone"}[act])
    its.observed["vm1"], its.acted["vm1"] = observed, acted
    its.go_on()
    assert its.of("vm1")[0] != "done"
    assert its.of("vm2") == ("done", None)


# What goes on, and what is done


def test_a_drain_is_looked_at_again_after_a_pause_until_it_is_done() -> None:
    its = MethodsLoop(hosts=["vm1", "vm2"]).begin()
    assert (its.state["do"], its.state["contact"]) == ("act", ["vm1", "vm2"])
    its.answers("vm1", state="draining", error="2 connection(s)\x1b[2J open")
    its.answers("vm2", state="drained")
    its.go_on()
    assert (its.state["do"], its.state["pause"], its.state["contact"]) == ("pause", 6, ["vm1"])
    assert its.state["plan"]["requeue"] == {"seconds": 6, "watch": [], "why": "vm1: 2 connection(s)\\x1b[2J open"}
    its.again()
    assert (its.state["do"], list(its.state["actions"]), its.state["contact"], its.state["waited"]) == ("act", ["vm1"], ["vm1"], 7)
    its.observed["vm2"] = SILENT
    its.answers("vm1", state="drained")
    assert its.go_on()["do"] == "end"
    assert its.of("vm1") == its.of("vm2") == ("done", None), "what is done is not asked again"


def test_without_a_reason_the_wait_says_what_goes_on() -> None:
    its = MethodsLoop(RECOVER).begin()
    its.answers("vm1", state="undoing")
    its.go_on()
    assert its.state["plan"]["requeue"]["why"] == "vm1: recovering"


def test_what_was_never_drained_is_recovered() -> None:
    its = MethodsLoop(RECOVER, ["vm1", "vm2"])
    its.observations("vm1", record("drained"))
    its.begin()
    assert its.of("vm1") == ("done", None)
    assert its.state["contact"] == ["vm2"]
    its.observations("vm2")
    assert its.begin().state["do"] == "end"


def test_a_vm_that_could_not_be_observed_at_the_begin_is_observed_first() -> None:
    its = MethodsLoop(RECOVER)
    its.observed["vm1"] = BROKEN
    its.begin()
    assert (its.state["do"], its.state["contact"], its.state["actions"]) == ("act", ["vm1"], {})
    its.observations("vm1", written("drained"))
    its.go_on()
    its.again()
    assert its.state["actions"]["vm1"][0]["action"] == "recover"


def test_tasks_are_judged_by_the_record_that_they_wrote() -> None:
    its = MethodsLoop(methods=OUTSIDE).begin()
    (stage,) = its.state["stages"]
    assert (stage["name"], its.state["actions"]) == ("drain", {})
    its.now += 2
    its.observations("vm1", written("draining", methods=[method("begun", error="4 sessions"), method(error="old")], revision=4))
    its.go_on()
    assert its.of() == ("goes_on", "4 sessions")
    its.again()
    its.observations("vm1", written("draining", methods=[method("begun", error=None)], revision=4))
    its.go_on()
    assert its.of() == ("goes_on", None), "an observation that finds nothing new writes nothing"
    its.again()
    its.observations("vm1", written("drained", revision=5))
    assert its.go_on()["do"] == "end"
    assert its.of() == ("done", None)


@pytest.mark.parametrize(("recorded", "present", "state"), [("boot", "boot", "done"), ("boot", "boot2", "goes_on"), ("boot", None, "done")])
def test_verified_by_tasks_means_in_the_present_boot(recorded: str, present: str | None, state: str) -> None:
    its = MethodsLoop(methods=OUTSIDE)
    its.observations("vm1", written("drained", ago=50, methods=AT_BALANCER))
    its.begin()
    assert its.state["assignments"]["vm1"]["by_tasks"][0]["verify"] is True
    its.now += 2
    its.observations("vm1", written("drained", ago=1, boot_id=recorded, revision=4, methods=AT_BALANCER), boot_id=present)
    its.go_on()
    assert its.of()[0] == state


def test_an_undo_by_tasks_is_done_when_the_record_says_so() -> None:
    outside = [method(outside=True, id="2-haproxy", method="haproxy"), method("undoing", outside=True, error="vm1: not in drain_methods")]
    its = MethodsLoop(RECOVER, methods=OUTSIDE)
    its.observations("vm1", written("drained", methods=outside))
    its.begin()
    assert its.state["do"] == "by_tasks"
    its.now += 1
    its.observations("vm1", written("recovering", methods=outside))
    its.go_on()
    assert its.of() == ("goes_on", "vm1: not in drain_methods")
    its.again()
    its.observations("vm1", written("recovering", methods=outside, undone=True))
    assert its.go_on()["do"] == "end"
    assert its.of() == ("done", None)


def test_tasks_of_one_vm_and_the_engine_of_another_go_together() -> None:
    its = MethodsLoop(hosts=["vm1", "vm2"])
    its.methods["vm1"] = OUTSIDE
    its.begin()
    assert (its.state["do"], list(its.state["actions"])) == ("by_tasks", ["vm2"])
    its.answers("vm2", state="drained")
    its.acted["vm2"] = its.observed["vm2"]
    its.now += 1
    its.observations("vm1", written("drained", revision=4))
    its.observations("vm2", written("drained"))
    assert its.go_on()["do"] == "end"
    assert its.of("vm1") == its.of("vm2") == ("done", None)


@pytest.mark.parametrize(
    ("seconds", "interval", "pause"),
    [(600, 5, 6), (600, 30, 30), (100, 0.2, 1), (100, 1.5, 2), (21600, 5, 216)],
)
def test_observations_are_never_so_often_that_they_are_used_up_before_the_time_is(seconds: float, interval: float, pause: int) -> None:
    its = MethodsLoop(hosts=["vm1", "vm2"], seconds=seconds, interval=interval)
    its.asks["vm2"] = {**its.asks["vm2"], "interval": 1000}
    its.begin()
    for host in its.hosts:
        its.answers(host, state="draining")
    assert its.go_on()["pause"] == pause


# What is asked for


def test_a_drain_says_what_for_until_when_and_under_which_lease() -> None:
    its = MethodsLoop(methods=OUTSIDE)
    its.asks["vm1"]["keeper"] = "vm9"
    its.observations("vm1", record("drained", order=4), record("held", event("E2")), vm_name="vm-1")
    (action,) = its.begin().state["assignments"]["vm1"]["by_tasks"]
    assert action == {
        "host": "vm1",
        "action": "drain",
        "event_id": ID,
        "reason": "",
        "continues": False,
        "lease": LEASE,
        "keeper": "vm9",
        "keeper_path": "",
        "event": {
            "event_id": ID,
            "event_type": "Upgrade",
            "event_status": "Scheduled",
            "event_source": "User",
            "resource_type": "VirtualMachine",
            "resources": ["vm-1"],
            "not_before": None,
            "description": "Rolling upgrade Kernel",
            "duration_in_seconds": -1,
        },
        "deadline": "2027-01-15T08:10:00Z",
        "rule": {"name": "rolling upgrade", "drain": True, "approve": "never", "order": 5},
        "verify": False,
    }
    # Where no method asks whether others serve, nothing is said of them; and an upgrade always has the time to wait.
    assert action.keys() == {*actions.keys(actions.Drain), "keeper_path"} - {"must", "away", "serves"}


@pytest.mark.parametrize(
    ("records", "order"),
    [
        ([], 1),
        ([record("held", event("E2"))], 1),
        ([record("drained", order=7), written("draining", order=2)], 2),
        ([{"rule": {"order": "many"}, "event": "none"}, record("drained", order=3)], 4),
    ],
)
def test_it_is_put_back_before_what_drained_the_vm_earlier(records: list[Any], order: int) -> None:
    its = MethodsLoop(methods=OUTSIDE)
    its.observations("vm1", *records)
    (action,) = its.begin().state["assignments"]["vm1"]["by_tasks"]
    assert action["rule"]["order"] == order


@pytest.mark.parametrize("phase", ["draining", "drained", "approved", "started", "failed"])
def test_what_is_drained_already_is_verified(phase: str) -> None:
    its = MethodsLoop()
    its.observations("vm1", {**written(phase), "event": {"event_id": " UPGRADE:kernel "}})
    (action,) = its.begin().state["actions"]["vm1"]
    assert action["verify"] is (phase in ("drained", "approved", "started"))


def test_a_recovery_is_asked_for_under_the_lease() -> None:
    its = MethodsLoop(RECOVER, methods=OUTSIDE)
    its.observations("vm1", written("drained", methods=AT_BALANCER))
    (action,) = its.begin().state["assignments"]["vm1"]["by_tasks"]
    assert action == {"host": "vm1", "action": "recover", "event_id": ID, "reason": "", "continues": False, "lease": LEASE, "keeper": None, "keeper_path": ""}


def test_each_iteration_has_an_iteration_of_its_own() -> None:
    its = MethodsLoop().begin()
    iterations = {its.state["actions"]["vm1"][0]["iteration"]}
    for _observation in range(3):
        its.answers("vm1", state="draining")
        its.go_on()
        iterations.add(its.again()["actions"]["vm1"][0]["iteration"])
    assert len(iterations) == 4


# The tasks of the loop


def test_the_tasks_read_what_a_state_keeps_and_there_is_a_file_for_each_thing_to_do() -> None:
    tasks = ROLES / "respond" / "tasks"
    shared = [tasks / f"{name}.yml" for name in ("act", "act_only", "by_tasks", "act_drain", "act_recover", "end", "iteration", "nothing")]
    own = [ROLES / "upgrade" / "tasks" / f"{name}.yml" for name in ("pause", "methods", "drain", "recover")]
    # What the pause says, and how long it is.
    words = yaml.safe_load((ROLES / "respond" / "vars" / "main.yml").read_text())
    pause = [words["__respond_waits"], words["__respond_sleep"]]
    read = set(re.findall(r"__respond_loop\.(\w+)", "".join([*(path.read_text() for path in shared + own), *pause])))
    assert {"vms", "stages", "waited", "do"} <= read
    assert read <= {*batch_loop.KEYS, "limits"}
    variables = re.findall(r"__respond_loop\.(\w+)", (ROLES / "upgrade" / "vars" / "main.yml").read_text())
    assert set(variables) == {"progress", "limits"}
    # The pause of a pass would observe what the next iteration observes anyway.
    (differs,) = re.findall(r"__respond_loop\.do == '(\w+)'", (ROLES / "upgrade" / "tasks" / "methods.yml").read_text())
    assert differs == batch_loop._wait(MethodsLoop().begin().state)["do"]


def test_a_drain_is_told_from_a_pass_and_from_a_gate() -> None:
    for other in (pass_loop.KEYS, gate_loop.KEYS):
        assert batch_loop.KEYS - other and other - batch_loop.KEYS


# --- Who serves meanwhile ------------------------------------------------------------------------------------------------

NEEDED = {"reason": "1-haproxy: not yet: vm1 is the last server of backend web", "blocker": {"kind": "needed", "subjects": []}}


def test_the_vms_of_a_batch_do_not_count_as_serving_for_each_other() -> None:
    its = MethodsLoop(hosts=("vm1", "vm2", "vm3"), methods=OUTSIDE)
    its.methods["vm3"] = [{"method": "haproxy", "balancers": ["lb2"]}]
    taken = its.begin().state["assignments"]
    assert [[one["server"] for one in taken[host]["by_tasks"][0].get("away", ())] for host in ("vm1", "vm2", "vm3")] == [["vm2"], ["vm1"], []]


@pytest.mark.parametrize("record_of", [written("draining", methods=[], **NEEDED), written("drained", methods=AT_BALANCER, verified_at=at(1), **NEEDED)])
def test_a_batch_waits_for_others_to_serve_and_fails_with_the_reason_when_its_time_is_over(record_of: dict[str, Any]) -> None:
    its = MethodsLoop(methods=OUTSIDE, seconds=60).begin()
    its.observations("vm1", {**record_of, "revision": 4})
    its.go_on()
    assert its.of() == ("goes_on", NEEDED["reason"])
    for number in range(5, 20):
        its.observations("vm1", {**record_of, "revision": number})
        if its.state["do"] == "end":
            break
        its.go_on(its.state["pause"] or 5)
    assert its.of() == ("failed", NEEDED["reason"])
