# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every case on both ways: as expected, and the same. What is expected stands in expected/."""

from __future__ import annotations

import json
import pathlib

import pytest
from outcome import compare

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import KINDS
from ansible_collections.maintenance.azure.tests.contract import table
from ansible_collections.maintenance.azure.tests.contract.compare import differences
from ansible_collections.maintenance.azure.tests.contract.endpoint import PAYLOADS
from ansible_collections.maintenance.azure.tests.contract.stage import Case, Played, Stage, load
from ansible_collections.maintenance.azure.tests.contract.wanted import FOLDER, expected, keep
from ansible_collections.maintenance.azure.tests.contract.ways import Linux, Way, Windows

CASES = load()
MODULES = {
    "maintenance_history",
    "maintenance_info",
    "maintenance_lease",
    "maintenance_record",
    "scheduled_events_approve",
    "scheduled_events_info",
    "wait_for_scheduled_event",
}
RECORD_KINDS = {"records", "conflict", "lease_lost"}
# endpoint: discover looks at other places on each system, and where nothing is found it asks the network and Azure's own address. Its tests
# are with the parser of leases (tests/unit) and in namespaces; here it would ask the network that the tests run in.
DISCOVERY = {"not_discovered", "dhclient_lease_option245.txt"}


def play(case: Case, way: Way) -> Played:
    stage = Stage(case, way)
    try:
        played = stage.play()
    finally:
        stage.close()
    return Played(*(table.RULES.general(part) for part in played))


def check_the_point(case: Case, played: Played) -> None:
    """What the case says by hand."""
    for step, result in zip(case.steps, played.results, strict=True):
        wanted = {key: value for key, value in step.get("expect", {}).items() if (key, value) != ("failed", None)}
        said = f"{step['module']} ({result.get('msg')})"
        compare(wanted, {"failed": False, **result}, said)
    sends = case.steps[0].get("sends")
    if sends:
        sent = [request["body"] for request in played.requests if "body" in request]
        wanted_body = [] if sends == "nothing" else [json.loads((PAYLOADS / sends).read_text())]
        # The preview's samples write the number as text.
        assert [dict(body, DocumentIncarnation=str(body["DocumentIncarnation"])) if "DocumentIncarnation" in body else body for body in sent] == wanted_body


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_case(case: Case, tmp_path: pathlib.Path, request: pytest.FixtureRequest) -> None:
    linux = play(case, Linux(tmp_path / "linux"))
    check_the_point(case, linux)
    keep(case, linux)
    unexpected = [*differences(case.id, expected(case), linux._asdict())]
    assert not unexpected
    windows = play(case, Windows(tmp_path / "windows"))
    unjustified = table.judge(case.id, differences(case.id, linux._asdict(), windows._asdict()))
    assert not unjustified, "\n".join(unjustified)


def test_names_are_unique() -> None:
    names = [case.id for case in CASES]
    assert len(set(names)) == len(names)


def test_what_is_expected_is_expected_of_a_case() -> None:
    wanted = {f"{path.stem}: {name}" for path in FOLDER.glob("*.json") for name in json.loads(path.read_text(encoding="utf-8"))}
    assert wanted == {case.id for case in CASES}


def test_every_module_is_tried_with_and_without_check_mode() -> None:
    steps = [step for case in CASES for step in case.steps]
    for check_mode in (False, True):
        assert {step["module"] for step in steps if step.get("check_mode", False) is check_mode} >= MODULES


def test_every_payload_is_a_case() -> None:
    text = json.dumps([(case.serve, case.steps) for case in CASES])
    assert {path.name for path in PAYLOADS.iterdir() if path.name not in text} - DISCOVERY == set()


def test_every_kind_of_error_is_a_case() -> None:
    kinds = {result.get("error_kind") for case in CASES for result in expected(case)["results"]} - {None}
    assert kinds == set(KINDS) - DISCOVERY | RECORD_KINDS
