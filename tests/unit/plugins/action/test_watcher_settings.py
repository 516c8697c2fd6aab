# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action watcher_settings: a wrong value is named by its option, and a misspelt option by the one that was meant."""

from __future__ import annotations

import typing as t
from typing import Any

import pytest
from controller_actions import run_action

from ansible_collections.maintenance.azure.plugins.action import watcher_settings


def run(variables: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    return run_action(watcher_settings, arguments, variables)


def test_the_watchers_settings_are_checked_by_the_names_of_their_options() -> None:
    assert "failed" not in run(settings={"tell_url": "https://eda.example.com:5000/"})
    wrong = run(settings={"tell_url": "http://eda.example.com:5000/"})
    assert wrong["failed"] and wrong["msg"].startswith("watch_tell_url is 'http://eda.example.com:5000/'; it must be https://HOST")
    for given, words in (
        ({"endpoint": "discover"}, "watch_endpoint is 'discover'; it must be an address such as http://169.254.169.254."),
        ({"figures_folder": "srv/metrics"}, "watch_figures_folder is 'srv/metrics'; it must be a whole path without / at its end."),
        ({"figures_folder": "/srv/metrics/"}, "watch_figures_folder is '/srv/metrics/'; it must be a whole path"),
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


def test_the_message_names_the_known_options() -> None:
    assert run(settings={"tell_ulr": "x"})["msg"].startswith("watch_tell_ulr is unknown; known are watch_endpoint, watch_api_version, ")


@pytest.fixture(name="said")
def _said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(watcher_settings.Display, "warning", lambda self, text: said.append(text))
    return said


def test_misspelt_options_are_warned_of_but_no_fact_of_a_vm_is(said: list[str]) -> None:
    facts = {"watch_intervall": 1}
    variables = {"watch_tell_ulr": "https://eda.example.com", "watch_mine": 1, "watch_interval": 1, **facts, "ansible_facts": facts}
    assert "failed" not in run(variables)
    assert said == ["The variable watch_tell_ulr is no option of maintenance.azure and has no effect. Did you mean watch_tell_url?"]


@pytest.mark.parametrize("name", ["watch_stat", "watch_sate", "watch_states", "watch_satte"])
@pytest.mark.parametrize("value", ["absent", "present"])
def test_a_misspelt_watch_state_is_refused(said: list[str], name: str, value: str) -> None:
    refused = run({name: value, "watch_state": "present", "watch_tell_ulr": "x"})
    assert refused["failed"] and refused["msg"].startswith(f"The variable {name} is no option of maintenance.azure. Did you mean watch_state? Nothing was")
    assert len(said) == 1 and said[0].endswith("Did you mean watch_tell_url?")


@pytest.mark.parametrize("value", ["prod", {"stdout": "absent"}, None, 7])
def test_a_variable_of_the_users_own_with_such_a_name_is_only_warned_of(said: list[str], value: t.Any) -> None:
    assert "failed" not in run({"watch_stats": value})
    assert said == ["The variable watch_stats is no option of maintenance.azure and has no effect. Did you mean watch_state?"]


@pytest.mark.parametrize("name", ["watch_status", "watch_state_of_web", "watch_state2", "batch_state"])
def test_other_names_are_not_taken_for_watch_state(name: str) -> None:
    assert "failed" not in run({name: "absent"})


def test_no_fact_of_a_vm_is_refused() -> None:
    assert "failed" not in run({"watch_stat": "absent", "ansible_facts": {"watch_stat": "absent"}})


def test_values_are_checked_without_a_second_warning(said: list[str]) -> None:
    run({"watch_tell_ulr": "https://eda.example.com"}, settings={})
    assert said == []
