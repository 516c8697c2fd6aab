# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the options of an observation: the same for the module and for the controller."""

from __future__ import annotations

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed, HostAccess
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_act import act_on_vm
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_info import observation_arguments, observe_vm
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.observation_options import OPTIONS, problems

# Options of an observation that nobody sets for a VM: selections, timeouts of requests, and what a result shows.
NOT_OF_A_VM = {
    *("event_ids", "event_types", "event_statuses", "event_sources", "resources", "affecting"),
    *("connect_timeout", "request_timeout", "retries", "include_raw"),
}
RIGHT = [
    {},
    dict.fromkeys(OPTIONS),
    {"endpoint": "http://169.254.169.254"},
    {"endpoint": " Discover "},
    {"api_version": "auto"},
    {"api_version": "2019-08-01"},
    {"records_path": "/srv/records"},
    {"vm_name": "web_0", "boot_id": "x"},
    {"vm_name": 5, "boot_id": 7},
    {"health": {}},
    {"health": {"port": 80}},
    {"health": {"port": "8080", "host": "127.0.0.1", "timeout": "2.5"}},
    {"health": {"url": "https://user:secret@host:8443/health", "validate_certs": "no"}},
    {"health": {"file": "/run/in"}},
    {"health": {"service": "nginx.service"}},
]
WRONG = [
    ({"endpoint": "https://169.254.169.254"}, "endpoint", "it must be http://ADDRESS or http://ADDRESS:PORT"),
    ({"endpoint": ""}, "endpoint", "it must be http://ADDRESS or http://ADDRESS:PORT"),
    ({"endpoint": ["http://127.0.0.1"]}, "endpoint", "it must be text, and is a list."),
    ({"api_version": "2020-7-1"}, "api_version", "it must be one of auto, 2020-07-01,"),
    ({"api_version": ""}, "api_version", "it must be one of auto, 2020-07-01,"),
    ({"records_path": "records"}, "records_path", "it must be a whole path such as /var/lib/azure-maintenance."),
    ({"records_path": {"path": "/x"}}, "records_path", "it must be text, and is a dictionary."),
    ({"records_path": "/x\0"}, "records_path", "it must be text, and is text with a null character."),
    ({"vm_name": ["web1"]}, "vm_name", "it must be text, and is a list."),
    ({"vm_name": True}, "vm_name", "it must be text, and is true or false."),
    ({"boot_id": {"id": 1}}, "boot_id", "it must be text, and is a dictionary."),
    ({"health": 80}, "health", "it must be a dictionary with one of port, url, file and service"),
    ({"health": ["port"]}, "health", "it must be a dictionary with one of port, url, file and service"),
    ({"health": {"prot": 80}}, "health", "there is no key prot. Keys: port, url, file, service, host, timeout, validate_certs."),
    ({"health": {"host": "127.0.0.1"}}, "health", "one of port, url, file, service must be given, and there is none of them."),
    ({"health": {"port": 80, "url": "http://127.0.0.1"}}, "health", "one of port, url, file, service must be given, and there is port and url."),
    ({"health": {"port": "http"}}, "health", "port must be a port, 1 to 65535."),
    ({"health": {"port": 0}}, "health", "port must be a port, 1 to 65535."),
    ({"health": {"port": 65536}}, "health", "port must be a port, 1 to 65535."),
    ({"health": {"port": True}}, "health", "port must be a port, 1 to 65535."),
    ({"health": {"port": [80]}}, "health", "port must be a port, 1 to 65535."),
    ({"health": {"url": "user:secret@host/health"}}, "health", "url must be a URL that begins with http://HOST or https://HOST"),
    ({"health": {"url": "http://host:secret/"}}, "health", "url must be a URL that begins with http://HOST or https://HOST"),
    ({"health": {"file": ""}}, "health", "file must be the path of a file."),
    ({"health": {"file": ["/run/in"]}}, "health", "file must be the path of a file."),
    ({"health": {"service": " "}}, "health", "service must be the name of a service."),
    ({"health": {"port": 80, "host": {}}}, "health", "host must be a host's name or address."),
    ({"health": {"port": 80, "timeout": 0}}, "health", "timeout must be a number of seconds, more than 0."),
    ({"health": {"port": 80, "timeout": "nan"}}, "health", "timeout must be a number of seconds, more than 0."),
    ({"health": {"port": 80, "timeout": "5s"}}, "health", "timeout must be a number of seconds, more than 0."),
    ({"health": {"url": "http://x", "validate_certs": "maybe"}}, "health", "validate_certs must be true or false."),
]


def test_each_option_that_a_vm_may_have_is_checked() -> None:
    assert set(OPTIONS) | NOT_OF_A_VM == set(observation_arguments())


@pytest.mark.parametrize("options", RIGHT, ids=str)
def test_what_is_right(options):
    assert problems(options) == []
    assert ArgumentSpecValidator(observation_arguments()).validate({key: value for key, value in options.items() if value}).error_messages == []


@pytest.mark.parametrize(("options", "option", "words"), WRONG, ids=str)
def test_what_is_wrong(options, option, words):
    (found,) = problems(options)
    assert (found.option, words in found.text, found.text.endswith(".")) == (option, True, True)
    assert "secret" not in found.text


def test_a_key_and_a_choice_may_be_suggested():
    found = problems({"health": {"prot": 80}, "api_version": "2020-7-1"}, suggest=lambda given, names: f" ({given} of {len(list(names))})")
    assert [one.text.split(" (")[1].split(")")[0] for one in found] == ["2020-7-1 of 8", "prot of 7"]


def test_the_path_is_that_of_the_system():
    def refuse(path):
        raise ValueError(f"{path} is no path")

    assert [one.text for one in problems({"records_path": "/x"}, check_path=refuse)] == ["/x is no path."]


@pytest.mark.parametrize("work", [observe_vm, act_on_vm])
def test_the_module_refuses_before_it_opens_anything(work):
    def opened(_what):
        raise AssertionError("it was opened")

    access = HostAccess(False, print, files=opened, host=opened, machine=opened)
    options = {"health": {"port": 70000}, "endpoint": "https://x", "records_path": "/x", "boot_id": None, "actions": []}
    with pytest.raises(Failed, match=r"^endpoint is 'https://x'; .* health: port must be a port, 1 to 65535\.$") as caught:
        work(options, access)
    assert caught.value.result["error_kind"] == "bad_option"
