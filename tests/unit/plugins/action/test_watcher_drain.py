# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action watcher_drain: what is wrong is the task's own message, and where the watcher drains nothing, a note says why."""

from __future__ import annotations

import os
from typing import Any
from unittest import mock

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.action import watcher_drain
from ansible_collections.maintenance.azure.plugins.modules import watcher_drain as module

FOLDER = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4, "roles", "drain", "tasks", "methods"))
SERVICE = {"method": "service", "names": ["nginx.service"]}
HAPROXY = {"method": "haproxy", "balancers": ["lb1"]}
WRONG = {"policy": "no such policy", "former": 7}


def run(variables: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    task = mock.Mock(args=arguments, check_mode=False, async_val=0, diff=False, environment=[], action="maintenance.azure.watcher_drain")
    action = watcher_drain.ActionModule(task, mock.Mock(), mock.Mock(), mock.Mock(), mock.Mock(), None)
    return action.run(None, {"inventory_hostname": "vm1", **(variables or {})})


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
    found = run(**{"methods": [SERVICE], "types": ["Preempt"], "folders": [FOLDER], **arguments})
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
    found = run(**{"folders": [FOLDER], **arguments})
    assert {key: found.get(key) for key in ("failed", "changed", "content", "drains", "note")} == {
        "failed": None,
        "changed": False,
        "content": {},
        "drains": False,
        "note": note,
    }


def test_the_content_has_the_rules_and_the_methods_of_the_vm() -> None:
    found = run(types=["Preempt"], methods=[SERVICE], folders=[FOLDER])
    assert (found["drains"], found["note"], found["changed"]) == (True, "", False)
    assert [row["name"] for row in found["content"]["rules"]] == ["short pause", "everything else"]
    assert [one["id"] for one in found["content"]["methods"]] == ["1-service"]


def test_a_note_names_what_is_left_to_the_controller() -> None:
    found = run(types=["Preempt"], methods=[HAPROXY, SERVICE], folders=[FOLDER], policy="documentation")
    assert (found["drains"], found["note"]) == (True, "The watcher leaves these drain methods to the controller: 1-haproxy.")
    assert found["content"]["elsewhere"] == ["1-haproxy"]


def test_the_documentation_has_the_options_of_the_action() -> None:
    assert _spec(yaml.safe_load(module.DOCUMENTATION)["options"]) == watcher_drain.SPEC
    assert module.ARGUMENTS == watcher_drain.SPEC


@pytest.mark.parametrize(
    ("types", "words"),
    [
        (["preempt"], "watch_drain names the type preempt (did you mean Preempt?). Azure has Freeze, Reboot, Redeploy, Preempt, Terminate."),
        (["Rebot"], "watch_drain names the type Rebot (did you mean Reboot?). Azure has"),
        (["all"], "watch_drain names the type all. Azure has"),
    ],
)
def test_a_type_that_azure_does_not_have_is_refused(types: list[str], words: str) -> None:
    found = run(methods=[SERVICE], types=types, folders=[FOLDER])
    assert found["failed"] and found["msg"].startswith(words)


@pytest.mark.parametrize(("given", "types"), [("Preempt,Reboot", ["Preempt", "Reboot"]), ("[]", []), ("", []), ([], []), (["Preempt"], ["Preempt"])])
def test_types_as_an_extra_variable_gives_them(given: Any, types: list[str]) -> None:
    found = run(methods=[SERVICE], types=given, folders=[FOLDER])
    assert (found["types"], found["drains"]) == (types, bool(types))


def test_the_watchers_settings_are_checked_by_the_names_of_their_options() -> None:
    assert "failed" not in run(settings={"tell_url": "https://eda.example.com:5000/"})
    wrong = run(settings={"tell_url": "http://eda.example.com:5000/"})
    assert wrong["failed"] and wrong["msg"].startswith("watch_tell_url is 'http://eda.example.com:5000/'; it must be https://HOST")
    for given, words in (
        ({"endpoint": "discover"}, "watch_endpoint is 'discover'; it must be an address such as http://169.254.169.254."),
        ({"figures_folder": "srv/figures"}, "watch_figures_folder is 'srv/figures'; it must be a whole path without / at its end."),
        ({"figures_folder": "/srv/figures/"}, "watch_figures_folder is '/srv/figures/'; it must be a whole path"),
    ):
        assert run(settings=given)["msg"].startswith(words)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"tell_client_certificate": "/etc/a.pem"},
            "watch_tell_client_key is empty; it must be given with watch_tell_client_certificate, and empty without it.",
        ),
        (
            {"tell_folder": "/srv/tell_me; it must be tell_it"},
            "watch_tell_folder is '/srv/tell_me; it must be tell_it'; it must be empty where watch_tell_url is given: messages go to one place.",
        ),
        ({"tell_url": None, "tell_folder": "news"}, "watch_tell_folder is 'news'; it must be a whole path, which begins with /."),
        ({"records_path": "records"}, "watch_records_path is 'records'; it must be a whole path, which begins with /."),
        (
            {"endpoint": "127.0.0.1:8100"},
            "watch_endpoint is '127.0.0.1:8100'; it must be http://ADDRESS or http://ADDRESS:PORT and nothing more. Azure's own is http://169.254.169.254.",
        ),
    ],
    ids=str,
)
def test_the_messages_know_options_and_no_keys_of_the_file(settings: dict[str, Any], message: str) -> None:
    assert run(settings={"tell_url": "https://eda.example.com:5000/", **settings})["msg"] == message


def test_a_misspelt_option_is_named_before_what_it_leaves_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(watcher_drain.Display, "warning", lambda self, text: said.append(text))
    assert run({"watch_drian": ["Reboot"]}, types=["Rebot"])["failed"] is True
    assert said == ["The variable watch_drian is no option of maintenance.azure and has no effect. Did you mean watch_drain?"]


def test_misspelt_options_are_warned_of_but_no_fact_of_a_vm_is(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(watcher_drain.Display, "warning", lambda self, text: said.append(text))
    facts = {"watch_intervall": 1}
    run({"watch_tell_ulr": "https://eda.example.com", "watch_mine": 1, "watch_interval": 1, **facts, "ansible_facts": facts}, settings={})
    assert said == ["The variable watch_tell_ulr is no option of maintenance.azure and has no effect. Did you mean watch_tell_url?"]


def _spec(options: dict[str, Any]) -> dict[str, Any]:
    """Return documented options as an argument spec has them."""
    found = {}
    for name, option in options.items():
        more = {"options": _spec(option["suboptions"])} if "suboptions" in option else {}
        found[name] = {key: value for key, value in option.items() if key not in ("description", "suboptions")} | more
    return found
