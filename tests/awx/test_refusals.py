# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Issue 7, show 1: each refusal becomes one clear message, and nothing is changed before it where that can be known."""

from __future__ import annotations

import pathlib
import typing as t

import pytest

from ansible_collections.maintenance.azure.tests.awx.conftest import Awx
from ansible_collections.maintenance.azure.tests.awx.stand_in.generate import generate


def test_the_collection_is_missing(tmp_path: pathlib.Path) -> None:
    awx = Awx(tmp_path, None)
    assert awx.refused() == ("collection awx.awx is not installed where Ansible runs. To install it: ansible-galaxy collection install 'awx.awx:>=21.11.0'")


def test_the_collection_is_too_old(tmp_path: pathlib.Path) -> None:
    awx = Awx(tmp_path, generate(tmp_path / "old", "21.10.2"))
    assert awx.refused().startswith("collection awx.awx 21.10.2 is too old, 21.11.0 is needed.")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "the address of AWX is missing: set CONTROLLER_HOST in the environment"),
        ({"CONTROLLER_HOST": "awx"}, "the login is missing: set CONTROLLER_OAUTH_TOKEN in the environment, or CONTROLLER_USERNAME and"),
        ({"CONTROLLER_HOST": "awx", "CONTROLLER_OAUTH_TOKEN": "bad"}, "(HTTP 401). - AWX does not know this token, or this user and password"),
    ],
)
def test_who_are_we(awx: Awx, environment: dict[str, str], words: str) -> None:
    awx.environment = environment
    assert words in awx.refused()


def test_nobody_there(awx: Awx) -> None:
    awx.edit(lambda known: known["rules"].update(down=True))
    assert "network error" in (said := awx.refused()) and said.endswith("see CONTROLLER_HOST and CONTROLLER_VERIFY_SSL")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"awx_credentials": ["VM login", "Typo"]}, "credential Typo (credentials of job template Maintenance status) is not there, or this user may not"),
        ({"awx_azure_credential": "Typo"}, "credential Typo (credential of inventory source Azure) is not there"),
        ({"awx_notify": {"error": ["Typo"]}}, "notification template Typo (notification_templates_error of job template Maintenance status) is not there"),
        ({"awx_azure_credential": ""}, "the inventory source Azure has no credential, and AWX takes no source of Azure without"),
        ({"awx_enable_hours": 24}, "awx_enable_hours is 24 and has to be from 1 to 23"),
        ({"awx_image": ""}, "the execution environment Azure maintenance has no image: set awx_image"),
    ],
)
def test_what_can_be_known_before(awx: Awx, given: dict[str, t.Any], words: str) -> None:
    before = awx.objects
    assert words in awx.refused(**given)
    assert (awx.log, awx.objects) == ([], before)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (
            {"deny": ["POST job_templates"]},
            "job template Maintenance status: You don't have permission to POST to /api/v2/job_templates/ (HTTP 403). - the user may not do this",
        ),
        ({"deny": ["GET projects"]}, "You don't have permission to GET to /api/v2/projects/ (HTTP 403). - the user may not do this"),
        ({"playbooks": ["playbooks/status.yml"]}, "job template Maintenance respond: Unable to create job_template Maintenance respond"),
    ],
)
def test_what_awx_refuses(awx: Awx, rules: dict[str, t.Any], words: str) -> None:
    awx.edit(lambda known: known["rules"].update(rules))
    assert words in awx.refused()
    if "deny" in rules and awx.log:
        # What was done before stays, and the same playbook goes on from there.
        before = awx.log
        awx.edit(lambda known: known.update(rules={"tokens": ["good"]}))
        awx.applied()
        assert awx.log[: len(before)] == before and "POST organizations" not in awx.log[len(before) :]


def test_an_option_that_the_module_does_not_have(awx: Awx) -> None:
    words = awx.refused(awx_projects=[{"name": "Azure maintenance", "branch": "main"}])
    assert words.startswith("project Azure maintenance: Unsupported parameters for") and "branch. Supported parameters include: " in words


def test_two_of_one_name(awx: Awx) -> None:
    awx.edit(lambda known: known["objects"]["credentials"].append({"id": 70, "name": "VM login", "organization": None}))
    assert "AWX has 2 of the name VM login among its credentials" in awx.refused()
