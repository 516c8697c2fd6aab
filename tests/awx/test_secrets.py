# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Issue 14, item 13: what can be a secret reaches AWX, and nothing that is printed, not even by -vvv."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.tests.awx.conftest import Awx, item

ADDRESS = "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/first-secret-of-slack"
OTHER = "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/second-secret-of-slack"
HEADER = "Bearer secret-in-a-header"
FOREIGN = "https://example.com/secret-of-somebody-else"
VARIABLE = "secret-in-a-variable"
ALL = ("first-secret-of-slack", "second-secret-of-slack", "secret-in-a-header", "secret-of-somebody-else", VARIABLE)
# What AWX is to template, and not Ansible: as the YAML of variables says it, and as it arrives.
MESSAGES = {"error": {"body": '{"text": "{{ job_friendly_name }} failed"}'}}
UNTEMPLATED = {"error": {"body": {"__ansible_unsafe": MESSAGES["error"]["body"]}}}
LOUD = ("-vvv", "--diff")


def template(address: str = ADDRESS, **more: t.Any) -> dict[str, t.Any]:
    configuration = {"url": address, "http_method": "POST", "headers": {"Authorization": HEADER}, **more}
    return {"name": "Chat", "notification_type": "webhook", "notification_configuration": configuration, "messages": UNTEMPLATED}


def shown(output: str) -> list[str]:
    """Lines that have a secret in them."""
    return [line for line in output.splitlines() if any(secret in line for secret in ALL)]


def foreign(known: dict[str, t.Any]) -> None:
    item(known, "notification_templates", "Tell operations")["notification_configuration"] = {"url": FOREIGN, "headers": {"X": FOREIGN}}


def by_hand(known: dict[str, t.Any]) -> None:
    item(known, "inventories", "Azure VMs")["variables"] = f"ansible_password: {VARIABLE}"


def test_what_can_be_a_secret_is_printed_nowhere(awx: Awx) -> None:
    notify = {"error": ["Tell operations", "Chat"]}
    awx.edit(foreign)
    awx.edit(lambda known: known["rules"].update(invalid="notification_template"))
    refused = awx.run(*LOUD, awx_notify=notify, awx_notification_templates=[template()])
    assert refused.code != 0 and shown(refused.output) == []
    assert "notification template Chat: Unable to create notification_template Chat" in refused.output and "(hidden) is not valid" not in refused.output

    awx.edit(lambda known: known["rules"].pop("invalid"))
    done = awx.applied(*LOUD, awx_notify=notify, awx_notification_templates=[template()])
    assert shown(done.output) == []
    kept = awx.one("notification_templates", "Chat")["notification_configuration"]
    assert kept == template()["notification_configuration"], "AWX has the secrets, and not what stands for them"
    assert awx.one("notification_templates", "Chat")["messages"] == MESSAGES, "for AWX to fill in"

    awx.edit(by_hand)
    told = awx.applied("--check", *LOUD, awx_notify=notify, awx_notification_templates=[template(OTHER)])
    assert shown(told.output) == []
    assert "  notification_configuration.url: '(hidden, and another one)' -> '(hidden)'" in told.lines
    assert "  variables.ansible_password: '(hidden)' -> nothing" in told.lines

    awx.applied(awx_notify=notify, awx_notification_templates=[template()])
    assert awx.applied(awx_notify=notify, awx_notification_templates=[template()]).changed == 0


AAP = """
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: maintenance.azure.awx, tasks_from: aap_configuration.yml}
    - ansible.builtin.assert:
        that: controller_notifications[0].notification_configuration == expected
        quiet: true
"""


def test_for_infra_aap_configuration_it_is_there_and_not_printed(awx: Awx) -> None:
    (awx.folder / "aap.yml").write_text(AAP)
    expected = template()["notification_configuration"]
    done = awx.applied(*LOUD, playbook=awx.folder / "aap.yml", awx_notification_templates=[template()], expected=expected)
    assert shown(done.output) == []
