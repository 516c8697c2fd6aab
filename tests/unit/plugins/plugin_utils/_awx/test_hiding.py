# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets are compared, and never shown."""

from __future__ import annotations

import copy
import json
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx import changes, hiding, reading, refusals
from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.kinds import MARK

# One of each type, as AWX has them. Each text with "hush" in it can be a secret.
CONFIGURATIONS: dict[str, dict[str, t.Any]] = {
    "webhook": {"url": "https://x.example/hush1", "headers": {"A": "Bearer hush-2", "B": ["hush-3"]}, "http_method": "POST", "disable_ssl_verification": False},
    "teams": {"url": "https://x.webhook.office.com/webhookb2/hush4@hush5/IncomingWebhook/hush6", "http_method": "POST", "headers": {}},
    "mattermost": {"mattermost_url": "https://x.example/hooks/hush-7", "mattermost_username": "me", "mattermost_no_verify_ssl": True},
    "rocketchat": {"rocketchat_url": "https://x.example/hooks/hush-8", "rocketchat_username": "me", "icon_url": "https://x.example/hush9"},
    "grafana": {"grafana_url": "https://hush-10@x.example", "dashboardId": 3, "annotation_tags": ["a"]},
    "email": {"host": "mail.example", "port": 25, "sender": "a@x.example", "recipients": ["b@x.example"], "use_tls": False},
    "unheard of": {"new_field": "hush-11", "deeper": {"even": [{"more": "hush-12"}]}, "flag": True, "empty": ""},
}


def wanted(configuration: dict[str, t.Any]) -> dict[str, t.Any]:
    arguments = {"name": "Chat", "description": MARK, "notification_type": "webhook", "notification_configuration": configuration}
    return {"kind": "notification_template", "name": "Chat", "made": True, "arguments": arguments}


def planned(one: dict[str, t.Any], configuration: dict[str, t.Any] | None) -> dict[str, t.Any]:
    """Return what is printed if AWX has this configuration."""
    item = {**one["arguments"], "id": 1, "notification_configuration": configuration}
    found = reading.read([one], lambda _endpoint, _query: [item], False) if configuration is not None else [{}]
    assert "hush" not in json.dumps(found)
    return changes.plan([one], found, "present", False)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_nothing_of_it_is_shown(name: str) -> None:
    one = wanted(CONFIGURATIONS[name])
    before = copy.deepcopy(one)
    others = {key: "hush-other" for key, value in CONFIGURATIONS[name].items() if "hush" in json.dumps(value)}
    for configuration in (None, {}, CONFIGURATIONS[name], others):
        assert "hush" not in json.dumps(planned(one, configuration))
    assert one == before, "what is sent to AWX is as it was"
    assert "hush" not in json.dumps(hiding.hide(hiding.hide(one))) and hiding.hide(hiding.hide(one)) == hiding.hide(one)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_same_is_the_same_and_another_is_another(name: str) -> None:
    one = wanted(CONFIGURATIONS[name])
    assert [change["action"] for change in planned(one, CONFIGURATIONS[name])["changes"]] == ["same"]
    for key, value in CONFIGURATIONS[name].items():
        if value in ("", {}):
            continue
        other = planned(one, {**CONFIGURATIONS[name], key: "another"})
        assert [each["what"] for each in other["changes"][0]["differences"]] == [f"notification_configuration.{key}"], key
        assert planned(one, {inner: each for inner, each in CONFIGURATIONS[name].items() if inner != key})["changes"][0]["action"] == "change"


def test_encrypted_values_are_not_compared() -> None:
    one = wanted(CONFIGURATIONS["webhook"])
    kept = {**CONFIGURATIONS["webhook"], "headers": {"A": "$encrypted$", "B": ["hush-3"]}, "password": "$encrypted$"}
    assert planned(one, kept)["changes"][0]["action"] == "same"
    assert planned(one, {**kept, "url": "$encrypted$"})["changes"][0]["action"] == "same"
    assert planned(one, {**kept, "headers": {"A": "$encrypted$", "B": ["another"]}})["changes"][0]["action"] == "change"


def test_of_foreign_objects_only_the_name_is_read() -> None:
    named = {"kind": "notification_template", "name": "Mail", "made": False, "arguments": {"name": "Mail"}}
    item = {"id": 7, "name": "Mail", "notification_configuration": {"url": "hush"}, "inputs": {"client": "hush"}}
    assert reading.read([named], lambda _endpoint, _query: [item], True) == [{"id": 7, "name": "Mail"}]
    assert reading.read([named], lambda _endpoint, _query: [], True) == [{}]


@pytest.mark.parametrize(
    ("kind", "option", "present", "line"),
    [
        ("inventory", "variables", {"ansible_password": "hush", "a": 1}, "  variables.ansible_password: '(hidden)' -> nothing"),
        ("inventory", "variables", '{"x": {"api_key": "hush"}}', "  variables.x: {'api_key': '(hidden)'} -> nothing"),
        ("job_template", "extra_vars", "db_token: hush", "  extra_vars.db_token: '(hidden)' -> nothing"),
        ("project", "scm_url", "https://me:hush@x.example/r.git", "  scm_url: 'https://(hidden)@x.example/r.git' -> 'https://x.example/r.git'"),
        ("inventory", "variables", "x: [{token: hush}, 1]", "  variables.x: [{'token': '(hidden)'}, 1] -> nothing"),
        ("job_template", "extra_vars", "monkey: 5", "  extra_vars.monkey: 5 -> nothing"),
    ],
)
def test_secrets_that_were_set_in_awx_by_hand(kind: str, option: str, present: t.Any, line: str) -> None:
    value = "https://x.example/r.git" if option == "scm_url" else {}
    one = {"kind": kind, "name": "A", "made": True, "arguments": {"name": "A", "description": MARK, option: value}}
    found = reading.read([one], lambda _endpoint, _query: [{"id": 1, "name": "A", "description": MARK, option: present, "host_config_key": "hush"}], False)
    told = changes.plan([one], found, "present", False)
    assert line in told["lines"] and "hush" not in json.dumps(told)


def test_messages_that_repeat_a_secret() -> None:
    objects = [wanted(configuration) for configuration in CONFIGURATIONS.values()]
    hidden = hiding.secrets(objects)
    said = "".join(f"{text!r} is wrong; " for text in hidden) + "no route to https://x.example; Bearer is no scheme; hush-2"
    failed = {"results": [{"failed": True, "msg": said, "__awx_change": {"words": "notification template Chat"}}]}
    words = refusals.failed(failed, hidden)
    assert "hush" not in words and words.startswith("notification template Chat: ") and "no route to https://x.example;" in words
    assert refusals.failed(failed).count("hush") > 10, "without the secrets nothing can be taken out"
