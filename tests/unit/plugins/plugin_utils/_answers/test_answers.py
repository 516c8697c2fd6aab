# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers: any value in, documented keys of documented types or one failure out; correct answers pass unchanged."""

from __future__ import annotations

import copy
import json
import pathlib
import time
import typing as t

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core import limits as on_the_vm
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers import limits
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.answer import (
    read_answer,
    read_foreign_output,
    read_output,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.kinds import printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.schemas import COMMON, JOB, NO_ANSWER, SCHEMAS

ROOT = pathlib.Path(__file__).resolve().parents[5]
CONTRACT = ROOT / "tests" / "contract"
MODULES = sorted(SCHEMAS)
INFO, RECORD = "maintenance_info", "maintenance_record"


def _documented(module: str) -> dict[str, t.Any]:
    """Return the documented keys of a module: its own, and those of the module that it points to."""
    text = (ROOT / "plugins" / "modules" / f"{module}.py").read_text().split('RETURN = r"""', 1)[1].split('"""', 1)[0]
    return dict(_documented(INFO) if module == "maintenance_act" else {}, **yaml.safe_load(text))


def _honest() -> list[t.Any]:
    """Return results of the real modules, without parts that differ in each run."""
    found = []
    for cases in ("observation", "records", "approve", "wait", "texts", "vectors", "answers", "options"):
        steps = {case["name"]: case for case in _cases(cases)}
        for name, case in json.loads((CONTRACT / "expected" / f"{cases}.json").read_text()).items():
            for place, result in enumerate(case["results"]):
                module = _module_of(result, steps.get(name, {}), place)
                if module:
                    found.append(pytest.param(module, result, id=f"{cases}: {name} {place}"))
    return found


def _cases(name: str) -> list[dict[str, t.Any]]:
    loaded = yaml.safe_load((CONTRACT / "cases" / f"{name}.yml").read_text())
    return [case for case in loaded if isinstance(case, dict) and "name" in case] if isinstance(loaded, list) else []


def _module_of(result: dict[str, t.Any], case: dict[str, t.Any], place: int) -> str | None:
    steps = [step for step in case.get("steps", []) if "module" in step]
    if len(steps) > place:
        return str(steps[place]["module"])
    for key, module in (("records_readable", INFO), ("conflict", RECORD), ("approved", "scheduled_events_approve"), ("outcome", "wait_for_scheduled_event")):
        if key in result:
            return module
    return "scheduled_events_info" if "events" in result else None


HONEST = _honest()
OBSERVATION: dict[str, t.Any] = dict(
    json.loads((CONTRACT / "expected" / "observation.json").read_text())["a first observation"]["results"][0], uptime_seconds=5.5
)


@pytest.mark.parametrize(("module", "result"), HONEST)
def test_real_results_of_the_modules_pass_unchanged(module, result):
    whole = dict(result, **({"uptime_seconds": 5.5} if module == INFO and not result["failed"] else {}))
    whole.pop("warnings", None)
    assert read_answer(module, "web1", copy.deepcopy(whole)) == whole


def test_there_are_honest_answers_of_each_module():
    assert {param.values[0] for param in HONEST} == set(MODULES) - {"haproxy_server", "kubernetes_node", "maintenance_act", "watcher_python"}


@pytest.mark.parametrize("module", MODULES)
def test_every_documented_key_has_a_type_and_no_other_has(module):
    # What the controller itself knows of the VM the action adds: no answer of a VM has it.
    of_the_controller = {"answered_at", "asked", "vm_settings", "excluded", "refused", "not_reached"}
    assert not of_the_controller & set(SCHEMAS[module].returns)
    assert set(SCHEMAS[module].returns) | {"error_kind"} == (set(_documented(module)) - of_the_controller) | {"error_kind"}


TIMES = {"methods": ["service", "haproxy"], "seconds": [0, 31.75]}


@pytest.mark.parametrize("times", [None, TIMES, {"methods": ["x"] * 16, "seconds": [86400] * 5}])
def test_drain_times_pass(times):
    answer = {**OBSERVATION, "drain_times": times}
    assert read_answer(INFO, "web1", copy.deepcopy(answer)) == answer


@pytest.mark.parametrize(("wrong", "why"), [
    ([1], "drain_times is a list"), ({"methods": ["x"]}, "drain_times has no seconds"), ({**TIMES, "methods": ["x"] * 17}, "has 17 items, more than 16"),
    ({**TIMES, "seconds": [1] * 6}, "has 6 items, more than 5"), ({**TIMES, "seconds": [-0.5]}, "seconds[0] is not between 0 and 86400"),
    ({**TIMES, "seconds": [86400.5]}, "is not between"), ({**TIMES, "seconds": [10**30]}, "is not between"), ({**TIMES, "seconds": [float("nan")]}, "finite"),
    ({**TIMES, "seconds": ["5"]}, "is a text"), ({**TIMES, "seconds": [True]}, "is true or false"), ({**TIMES, "methods": [{"a": 1}]}, "is a dictionary"),
])  # fmt: skip
def test_drain_times_that_no_vm_writes_are_refused(wrong, why):
    found = read_answer(INFO, "web1", {**OBSERVATION, "drain_times": wrong})
    assert found["failed"] and why in found["msg"]


def test_answers_of_maintenance_act_pass():
    taken = {"action": "acquire", "event_id": "E1", "failed": False, "changed": True, "leases": ["claim-x"]}
    failed = {"action": "drain", "event_id": "E1", "failed": True, "changed": False, "msg": "no", "error_kind": "records"}
    answer = dict(OBSERVATION, changed=True, results=[taken, failed])
    assert read_answer("maintenance_act", "web1", copy.deepcopy(answer)) == answer


def test_haproxy_answers_pass():
    server = {"backend": "shop", "server": "web1", "state": "drain", "status": "DRAIN", "up": True, "checked": True, "sessions": 3, "queued": 0}
    out = {"name": "web3", "status": "DOWN", "why": "down"}
    left = {
        "server": "web1", "tracks": "", "address": "10.0.0.4", "takes": True, "weighs": True, "others": 1, "names": ["web2"], "candidates": 2, "missing": 1,
        "out": [out], "asked": 1,
    }  # fmt: skip
    answer = {
        "changed": True,
        "backends": {"shop": server},
        "left": {"shop": left},
        "reached": True,
        "short": [],
        "was": {"shop": "ready"},
        "diff": {"before": {"shop": "ready"}, "after": {"shop": "drain"}},
    }
    assert read_answer("haproxy_server", "lb1", answer) == answer
    for wrong in ({"out": [out] * 11}, {"names": ["x"] * 11}, {"others": "1"}, {"takes": 1}, {"out": [{"name": "web3"}]}, {"candidates": 10**41}):
        said = read_answer("haproxy_server", "lb1", {**answer, "left": {"shop": {**left, **wrong}}})
        assert said["failed"] and said["msg"].startswith("lb1: ") and "left.shop." in said["msg"], said
    # What messages repeat is one short line.
    long = {**out, "status": "DOWN\x1b[2J\n" + "x" * 5000}
    (shown,) = read_answer("haproxy_server", "lb1", {**answer, "left": {"shop": {**left, "out": [long]}}})["left"]["shop"]["out"]
    assert shown["status"].isprintable() and len(shown["status"]) == 200


def test_answers_about_a_node_of_kubernetes_pass():
    node = {"name": "worker1", "unschedulable": True, "event": None, "ready": True}
    pod = {"namespace": "shop", "name": "web-0", "uid": "u", "owner": "", "mirror": False, "finished": False, "local": False, "ending": True, "ready": True}
    evictions = [{"namespace": "shop", "name": "web-0", "code": 429, "message": "held", "reason": "TooManyRequests", "cause": "DisruptionBudget"}]
    answer = {"changed": True, "node": node, "pods": [pod], "evictions": evictions, "diff": {"before": {}, "after": node}}
    for one in (answer, {**answer, "node": None, "pods": []}):
        assert read_answer("kubernetes_node", "localhost", one) == one


HARMFUL = {
    "ansible_facts": {"respond_policy": [], "ansible_python_interpreter": "/tmp/x"},
    "add_host": {"host_name": "x"},
    "add_group": "x",
    "ansible_stats": {"data": {}},
    "ansible_loop_var": "item",
    "_ansible_no_log": True,
    "_ansible_delegated_vars": {"web2": {}},
    "attempts": 3,
    "censored": "x",
    "deprecations": [{"msg": "x", "version": "3"}],
    "diff": [{"before": "a", "after": "b"}],
    "exception": "Traceback",
    "finished": 1,
    "ansible_job_id": "1.1",
    "invocation": {"module_args": {}},
    "results": [1],
    "retries": 1,
    "skipped": True,
    "stdout": "x",
    "unreachable": True,
    "rc": 1,
    "module_stdout": "x",
}


@pytest.mark.parametrize("name", sorted(HARMFUL))
@pytest.mark.parametrize("module", [INFO])
def test_keys_that_are_not_documented_are_left_out(module, name):
    assert read_answer(module, "web1", dict(OBSERVATION, **{name: HARMFUL[name]})) == OBSERVATION


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"events": None}, "events is null, not a list"),
        ({"events": [{"event_id": "a", "resources": 3}]}, "events[0].resources is a number, not a list"),
        ({"events": [{"event_id": "a", "resources": ["x", {}]}]}, "events[0].resources[1] is a dictionary, not a text"),
        ({"events": [{"resources": []}]}, "events[0] has no event_id"),
        ({"events": ["a"]}, "events[0] is a text, not a dictionary"),
        ({"identity": []}, "identity is a list, not a dictionary"),
        ({"identity": {"name": {}, "vm_id": None}}, "identity.name is a dictionary, not a text"),
        ({"records_readable": "yes"}, "records_readable is a text, not true or false"),
        ({"changed": 1}, "changed is a number, not true or false"),
        ({"failed": "no"}, "failed is a text, not true or false"),
        ({"document_incarnation": True}, "document_incarnation is true or false, not a whole number"),
        ({"document_incarnation": 10**5000}, "document_incarnation is a number of more than 40 digits"),
        ({"uptime_seconds": float("inf")}, "uptime_seconds is not a finite number"),
        ({"uptime_seconds": float("nan")}, "uptime_seconds is not a finite number"),
        ({"leases": [{"name": "x"}]}, "leases[0] has no run"),
        ({"replicas": [{"vm": "web2", "record": {}}]}, "replicas[0].record has no event"),
        ({"upgrades": [{"state": 7}]}, "upgrades[0].state is a number, not a text"),
        ({"now": None}, "now is null, not a text"),
    ],
)
def test_a_wrong_type_is_the_failure_of_the_whole_answer(change, reason):
    answer = read_answer(INFO, "web1", dict(OBSERVATION, **change))
    assert answer == {
        "changed": False,
        "failed": True,
        "error_kind": "bad_answer",
        "msg": f"web1: what maintenance_info returned is not usable: {reason}",
    }


def test_an_id_without_end_is_the_failure_of_the_whole_answer():
    """A plan repeats the text for each event; ten megabytes for a thousand events exceed a controller's memory."""
    answer = read_answer(INFO, "web1", dict(OBSERVATION, vm_name="x" * (limits.TEXT + 1)))
    assert answer["failed"] and f"more than {limits.TEXT}" in answer["msg"] and "vm_name" in answer["msg"]
    assert not read_answer(INFO, "web1", dict(OBSERVATION, vm_name="x" * limits.TEXT)).get("failed")


def test_missing_keys_are_named():
    assert read_answer(INFO, "web1", {"changed": False})["msg"].endswith("the answer has no vm_name")
    assert read_answer(INFO, "web1", [])["msg"].endswith("the answer is a list, not a dictionary")


def test_a_failure_keeps_its_documented_keys():
    record = json.loads((CONTRACT / "expected" / "records.json").read_text())["a conflict shows what is there"]["results"][-1]["record"]
    given = {"failed": True, "msg": "another revision", "error_kind": "conflict", "conflict": True, "record": record, "unreachable": True, "changed": False}
    assert read_answer(RECORD, "web1", given) == {key: value for key, value in given.items() if key != "unreachable"}


def test_messages_are_one_printable_line_of_some_length():
    answer = read_answer(INFO, "web1", {"failed": True, "msg": "a\x1b[2J\u202e\u2028b\r\nc" + "x" * 10000})
    assert answer["msg"].isprintable()
    assert len(answer["msg"]) == limits.LINE


def test_warnings_are_few_short_and_name_the_vm():
    warnings = ["one\x1b[31m\nline", {"event": {"msg": "two"}}, 3, None, ["x"], *(["more" * 1000] * 20)]
    answer = read_answer(INFO, "web1", dict(OBSERVATION, warnings=warnings))
    assert answer["warnings"][:2] == ["web1: one [31m line", "web1: two"]
    assert len(answer["warnings"]) == limits.WARNINGS
    assert all(len(one) <= limits.WARNING and one.isprintable() for one in answer["warnings"])
    assert read_answer(INFO, "web1", answer)["warnings"] == answer["warnings"]


@pytest.mark.parametrize("diff", [[], "x", 3, {"before": "a", "after": {}}, {"before": {}}])
def test_a_difference_has_two_dictionaries(diff):
    answer = read_answer(RECORD, "web1", {"changed": True, "record": None, "conflict": False, "diff": diff})
    assert answer["failed"]
    assert "diff" in answer["msg"]


def test_texts_that_nothing_could_write_are_mended():
    answer = read_answer(INFO, "web1", dict(OBSERVATION, vm_name="a\ud800b"))
    assert answer["vm_name"] == "a?b"


def test_values_under_keys_of_core_are_refused():
    event = dict(OBSERVATION["events"][0], raw={"__ansible_type": "TrustedAsTemplate"})
    assert "only Ansible itself" in read_answer(INFO, "web1", dict(OBSERVATION, events=[event]))["msg"]


def _deep(levels: int) -> t.Any:
    value: t.Any = 1
    for _level in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [limits.DEPTH + 1, 5000])
def test_deep_nesting_is_refused(levels):
    event = dict(OBSERVATION["events"][0], raw={"x": _deep(levels)})
    answer = read_answer(INFO, "web1", dict(OBSERVATION, events=[event]))
    assert answer["failed"]
    assert len(answer["msg"]) <= limits.LINE


def test_a_started_job_is_told_by_core():
    given = {"ansible_job_id": "j1.2", "started": 1, "finished": 0, "results_file": "~/.ansible_async/j1.2", "changed": True, "ansible_facts": {}}
    assert read_answer(INFO, "web1", given, job=True) == {key: value for key, value in given.items() if key != "ansible_facts"}


# Output of a module


def _read(printed: str) -> dict[str, t.Any]:
    clean = read_output(INFO, "web1", printed)
    assert clean is not None
    return dict(json.loads(clean))


def test_an_honest_output_stays():
    assert _read(json.dumps(OBSERVATION)) == OBSERVATION
    assert _read("Last login: today {\n" + json.dumps(OBSERVATION) + "\n\x1b[2Jgoodbye") == OBSERVATION


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ('{"document_incarnation": ' + "9" * 5000 + "}", "a number in it has more than 40 digits"),
        ('{"uptime_seconds": NaN}', "a number in it is NaN"),
        ('{"uptime_seconds": -Infinity}', "a number in it is -Infinity"),
        ('{"a": ' + "[" * 100000 + "]" * 100000 + "}", "nested deeper"),
        ('{"failed": true, "failed": 3}', "failed is a number"),
    ],
)
def test_an_unparsable_output_is_a_failure_with_a_message(printed, reason):
    answer = _read(printed)
    assert answer["failed"]
    assert reason in answer["msg"]


def test_an_output_without_end_is_a_failure(monkeypatch):
    monkeypatch.setattr(limits, "BYTES", 1000)
    assert "it has 2002 characters, more than 1000" in _read('{"' + "x" * 2000)["msg"]
    foreign = read_foreign_output("win_uri", "web1", "x" * 2000)
    assert foreign is not None
    assert "2000 characters" in foreign


@pytest.mark.parametrize("many", ["0,", "[],", '{"a":0},'])
def test_an_output_of_too_many_values_is_refused_before_it_is_parsed(many):
    printed = '{"events": [' + many * limits.VALUES + "0]}"
    assert len(printed) <= limits.BYTES
    begin = time.process_time()
    assert f"it has more than {limits.VALUES} values" in _read(printed)["msg"]
    foreign = read_foreign_output("win_uri", "web1", printed)
    assert foreign is not None
    assert "values" in foreign
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("where", ["events", "records"])
def test_names_without_end_are_the_failure_of_the_whole_answer(where):
    # Each name costs every later task of the play time, for all VMs (see tests/trust/test_many_names.py).
    def answer(names: int) -> str:
        events = [{"event_id": f"E{number}", "resources": ["liar"] * (names // 10)} for number in range(10)]
        records = [{"event": event, "phase": "drained", "history": [], "methods": []} for event in events]
        return json.dumps({"failed": True, "events": events if where == "events" else [], "records": records if where == "records" else []})

    assert "msg" not in _read(answer(limits.NAMES))
    assert f"{where} names {limits.NAMES + 10} resources, more than {limits.NAMES}" in _read(answer(limits.NAMES + 10))["msg"]


def test_an_honest_vm_at_each_of_its_limits_is_read():
    names = [f"WestNO_{number}" for number in range(90)]
    event = {"event_id": "C7061BAC-AFDC-4513-B24B-AA5F13A16123", "event_type": "Reboot", "description": "x" * 100, "resources": names}
    record = {
        "event": {**event, "resources": names[:20]},
        "phase": "drained",
        "history": [{"phase": "drained", "at": "2026-11-21T20:00:00.000000Z"}] * 8,
        "methods": [{"id": "1-service", "method": "service", "options": {"names": ["a.service"]}, "before": {"a.service": "active"}}] * 5,
        **dict.fromkeys(("boot_id", "vm_id", "lineage", "verified_at", "approved_at", "deadline"), "3f2b7c1e-8a55-4a01-9d1e-0a6f5b1c9e77"),
    }
    observation = {
        "events": [{**event, "raw": event}] * 200,
        "records": [record] * on_the_vm.RECORDS,
        "replicas": [{"vm": "web2", "record": {**record, "methods": record["methods"][:2]}}] * on_the_vm.COPIES,
    }
    printed = json.dumps({"failed": True, **observation})
    assert len(printed) > limits.BYTES / 4
    answer = _read(printed)
    assert "msg" not in answer
    assert len(answer["replicas"]) == on_the_vm.COPIES
    # A full records' directory and a document, raw and typed, fit as well.
    assert on_the_vm.FOLDER_BYTES + 3 * on_the_vm.ANSWER_BYTES < limits.BYTES


@pytest.mark.parametrize("printed", ["", "sudo: a password is required", "{", "}{", "{]}", "[1]", '"x"', "null"])
def test_output_without_an_object_is_left_to_core(printed):
    assert read_output(INFO, "web1", printed) is None
    assert read_foreign_output("win_uri", "web1", printed) is None


def test_other_modules_have_no_asides():
    printed = '{"json": {"a": NaN}, "warnings": ["x"], "deprecations": [1], "exception": "x", "_ansible_verbose_always": true, "rc": 0}'
    assert read_foreign_output("win_uri", "web1", printed) == '{"json": {"a": NaN}, "rc": 0}'


# Any value at all

SCALARS = st.none() | st.booleans() | st.integers() | st.integers(10**25, 10**40) | st.floats() | st.text(max_size=20) | st.just("a\ud800\u202e")
KEYS = st.sampled_from(sorted({*HARMFUL, *COMMON, *JOB, *NO_ANSWER, "warnings", *(key for schema in SCHEMAS.values() for key in schema.returns)})) | st.text(
    max_size=8
)
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=25)


@st.composite
def _nearly_honest(draw: t.Any) -> tuple[str, t.Any]:
    """Return a correct answer in which one place has another value."""
    module, result = draw(st.sampled_from([param.values for param in HONEST]))
    value: t.Any = copy.deepcopy(result)
    node, depth = value, draw(st.integers(0, 5))
    for _level in range(depth):
        inner = [item for item in (node.values() if isinstance(node, dict) else node) if isinstance(item, (dict, list)) and item]
        if not inner:
            break
        node = draw(st.sampled_from(inner))
    if isinstance(node, dict):
        node[draw(st.sampled_from(sorted(node)) | KEYS)] = draw(ANY)
    else:
        node[draw(st.integers(0, len(node) - 1))] = draw(ANY)
    return module, value


@settings(max_examples=400, deadline=None)
@given(st.tuples(st.sampled_from(MODULES), ANY) | _nearly_honest(), st.booleans())
def test_only_documented_keys_pass_and_reading_is_idempotent(asked, job):
    module, value = asked
    answer = read_answer(module, "web1", value, job)
    assert set(answer) <= {*COMMON, *SCHEMAS[module].returns, "warnings", *(["diff"] if SCHEMAS[module].diff else []), *NO_ANSWER, *JOB}
    assert all(isinstance(answer.get(key, False), bool) for key in ("changed", "failed"))
    assert printable(answer.get("msg", ""), limits.LINE) == answer.get("msg", "")
    assert read_answer(module, "web1", copy.deepcopy(answer), job) == answer
    printed = json.dumps(answer, allow_nan=False)
    assert json.loads(read_output(module, "web1", printed, job) or "") == answer


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | ANY.map(lambda value: json.dumps({"events": value})))
def test_no_output_raises(printed):
    for clean in (read_output(INFO, "web1", printed), read_foreign_output("win_uri", "web1", printed)):
        assert clean is None or isinstance(json.loads(clean), dict)
