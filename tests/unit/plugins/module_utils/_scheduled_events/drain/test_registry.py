# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods that there are, and their options: what is required, and what holds where a setting says nothing."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults, methods_of

NO_DEFAULT = None
# By method: each option's kind, whether it is required, its default and its choices.
ANY_SYSTEM = {
    "probe_file": {
        "path": ("text", True, NO_DEFAULT, ()),
        "present_means": ("text", False, "in", ("in", "out")),
        "interval": ("whole", False, 5, ()),
        "threshold": ("whole", False, 2, ()),
        "ports": ("wholes", False, [], ()),
        "mode": ("mode", False, "0644", ()),
        "may_be_absent": ("truth", False, False, ()),
    },
    "command": {
        "begin": ("command", True, NO_DEFAULT, ()),
        "check": ("command", True, NO_DEFAULT, ()),
        "undo": ("command", True, NO_DEFAULT, ()),
        "timeout": ("whole", False, 10, ()),
    },
    "none": {},
    "service": {"names": ("texts", True, NO_DEFAULT, ()), "may_be_stopped": ("truth", False, False, ())},
}
LINUX = {
    **ANY_SYSTEM,
    "silence": {
        "url": ("text", False, "http://127.0.0.1:9093", ()),
        "label": ("label", False, "instance", ()),
        "value": ("pattern", False, "", ()),
        "seconds": ("seconds", False, 7200, ()),
        "required": ("truth", False, False, ()),
        "ca_file": ("path", False, "", ()),
        "username": ("text", False, "", ()),
        "password_file": ("path", False, "", ()),
    },
    "slurm": {
        "node": ("text", False, "", ()),
        "jobs": ("text", False, "wait", ("wait", "requeue", "leave")),
        "requeue_seconds": ("whole", False, 60, ()),
    },
    "pacemaker": {
        "node": ("text", False, "", ()),
        "lifetime": ("text", False, "auto", ("auto", "reboot", "forever")),
        "members": ("mapping", False, {}, ()),
        "azure_agent": ("text", False, "refuse", ("refuse", "step_aside", "ignore")),
        "unmovable": ("text", False, "refuse", ("refuse", "stop")),
    },
    "patroni": {
        "url": ("text", False, "http://127.0.0.1:8008", ()),
        "member": ("text", False, "", ()),
        "config_folder": ("path", False, "", ()),
        "leader_only": ("truth", False, False, ()),
        "candidates": ("texts", False, [], ()),
        "members": ("mapping", False, {}, ()),
        "maximum_lag": ("whole", False, 1, ()),
        "username": ("text", False, "", ()),
        "password_file": ("path", False, "", ()),
        "ca_file": ("path", False, "", ()),
        "certificate_file": ("path", False, "", ()),
        "key_file": ("path", False, "", ()),
        "store": ("options", False, {}, ()),
    },
    "redis_sentinel": {
        "master": ("text", False, "mymaster", ()),
        "address": ("address", False, "127.0.0.1:6379", ()),
        "sentinels": ("texts", False, ["127.0.0.1:26379"], ()),
        "members": ("mapping", False, {}, ()),
        "pause": ("whole", False, 30, ()),
        "allow_no_writes": ("truth", False, False, ()),
        "username": ("text", False, "", ()),
        "password_file": ("path", False, "", ()),
        "sentinel_username": ("text", False, "", ()),
        "sentinel_password_file": ("path", False, "", ()),
        "tls": ("truth", False, False, ()),
        "ca_file": ("path", False, "", ()),
        "certificate_file": ("path", False, "", ()),
    },
    "galera": {
        "socket": ("path", False, "", ()),
        "defaults_file": ("path", False, "", ()),
        "reject_queries": ("truth", False, True, ()),
        "stop": ("truth", False, True, ()),
        "units": ("texts", False, ["mariadb.service"], ()),
        "minimum_nodes": ("whole", False, 0, ()),
        "members": ("mapping", False, {}, ()),
    },
    "rabbitmq": {"node": ("text", False, "", ()), "quorum_critical": ("text", False, "refuse", ("refuse", "ignore"))},
}
WINDOWS = {
    **ANY_SYSTEM,
    "iis": {"sites": ("texts", True, NO_DEFAULT, ()), "pools": ("texts", False, [], ()), "connections": ("whole", False, 0, ())},
    "wsfc": {
        "node": ("text", False, "", ()),
        "failback": ("text", False, "immediate", ("immediate", "policy", "none")),
        "managed_events": ("text", False, "step_aside", ("step_aside", "ignore")),
        "availability_groups": ("texts", False, [], ()),
        "instance": ("text", False, "localhost", ()),
        "replicas": ("mapping", False, {}, ()),
        "return_primary": ("truth", False, False, ()),
    },
}


@pytest.mark.parametrize("system,expected", [("linux", LINUX), ("windows", WINDOWS)])
def test_the_options_of_every_method(system, expected):
    found = {
        name: {key: (option.kind, option.required, option.default, tuple(option.choices)) for key, option in method.options.items()}
        for name, method in methods_of(system).items()
    }
    assert found == expected
    assert all(method.name == name for name, method in methods_of(system).items())
    assert all(option.required is (option.default is None) for method in methods_of(system).values() for option in method.options.values())


@pytest.mark.parametrize("system,expected", [("linux", LINUX), ("windows", WINDOWS)])
def test_the_defaults_are_those_of_the_options_that_need_no_setting(system, expected):
    for name, options in expected.items():
        assert defaults(name, system) == {key: default for key, (_kind, required, default, _choices) in options.items() if not required}
    assert defaults("probe_file") == defaults("probe_file", "linux")


def test_what_windows_alone_has_is_no_method_elsewhere():
    assert set(methods_of("windows")) - set(methods_of("linux")) == {"iis", "wsfc"}
    assert type(methods_of("windows")["service"]) is not type(methods_of("linux")["service"])
    with pytest.raises(KeyError):
        defaults("iis")
