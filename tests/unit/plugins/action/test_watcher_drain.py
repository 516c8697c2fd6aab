# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action watcher_drain: what is wrong is the task's own message, and where the watcher drains nothing, a note says why."""

from __future__ import annotations

from typing import Any

import pytest
from controller_actions import run_action

from ansible_collections.maintenance.azure.plugins.action import watcher_drain

SERVICE = {"method": "service", "names": ["nginx.service"]}
HAPROXY = {"method": "haproxy", "balancers": ["lb1"]}
WRONG = {"policy": "no such policy", "former": 7}


def run(**arguments: Any) -> dict[str, Any]:
    return run_action(watcher_drain, arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": "defualt"}, "there is no policy named 'defualt'"),
        ({"policy": [{"name": "big", "when": "length(resources) > `1`", "drain": True, "approve": "never"}]}, "rule 1 of the policy ('big'): when cannot be"),
        ({"methods": [{"method": "servis"}]}, "drain_methods, entry 1 (servis): method must be "),
        ({"methods": "service"}, "drain_methods must be a list with at least one method, and is service."),
        ({"former": "haproxy"}, "drain_methods_former must be a list"),
        ({"methods": [{"method": "service", "names": ["a\nb\x1b[31m", 1]}]}, "drain_methods, entry 1 (service): names is wrong"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_in_one_line(arguments: dict[str, Any], words: str) -> None:
    found = run(**{"methods": [SERVICE], "types": ["Preempt"], **arguments})
    assert (found["failed"], found["msg"].startswith(words), found["msg"].isprintable()) == (True, True, True), found["msg"]
    assert "exception" not in found and "content" not in found


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ({"types": [], "methods": [{"method": "servis"}], **WRONG}, "watch_drain is empty, so the watcher drains nothing."),
        ({"methods": [SERVICE], **WRONG}, "watch_drain is empty, so the watcher drains nothing."),
        ({"types": ["Preempt"], "methods": [], **WRONG}, "drain_methods is empty, so the watcher drains nothing."),
        ({"types": ["Preempt"], **WRONG}, "drain_methods is empty, so the watcher drains nothing."),
        (
            {"types": ["Preempt"], "methods": [HAPROXY, {**SERVICE, "name": "far", "outside": True}], "policy": "no such policy"},
            "No method of drain_methods runs on the VM alone (1-haproxy, far), so the watcher drains nothing.",
        ),
    ],
    ids=str,
)
def test_where_the_watcher_drains_nothing_a_note_says_why(arguments: dict[str, Any], note: str) -> None:
    found = run(**arguments)
    assert {key: found.get(key) for key in ("failed", "changed", "content", "drains", "note")} == {
        "failed": None,
        "changed": False,
        "content": {},
        "drains": False,
        "note": note,
    }


def test_the_content_has_the_rules_and_the_methods_of_the_vm() -> None:
    found = run(types=["Preempt"], methods=[SERVICE])
    assert (found["drains"], found["note"], found["changed"]) == (True, "", False)
    assert [row["name"] for row in found["content"]["rules"]] == ["short pause that hurts", "short pause", "everything else"]
    assert [one["id"] for one in found["content"]["methods"]] == ["1-service"]


def test_a_note_names_what_is_left_to_the_controller() -> None:
    found = run(types=["Preempt"], methods=[HAPROXY, SERVICE], policy="documentation")
    assert (found["drains"], found["note"]) == (True, "The watcher leaves these drain methods to the controller: 1-haproxy.")
    assert found["content"]["elsewhere"] == ["1-haproxy"]


@pytest.mark.parametrize(
    ("types", "words"),
    [
        (["preempt"], "watch_drain names the type preempt (did you mean Preempt?). Azure has Freeze, Reboot, Redeploy, Preempt, Terminate."),
        (["Rebot"], "watch_drain names the type Rebot (did you mean Reboot?). Azure has"),
        (["all"], "watch_drain names the type all. Azure has"),
    ],
)
def test_a_type_that_azure_does_not_have_is_refused(types: list[str], words: str) -> None:
    found = run(methods=[SERVICE], types=types)
    assert found["failed"] and found["msg"].startswith(words)


@pytest.mark.parametrize(("given", "types"), [("Preempt,Reboot", ["Preempt", "Reboot"]), ("[]", []), ("", []), ([], []), (["Preempt"], ["Preempt"])])
def test_types_as_an_extra_variable_gives_them(given: Any, types: list[str]) -> None:
    found = run(methods=[SERVICE], types=given)
    assert (found["types"], found["drains"]) == (types, bool(types))
