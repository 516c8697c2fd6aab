# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemctl says. It is played: no systemd runs where these tests do."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.services import ServiceError, ServiceState, SystemdServices


class FakeSystemctl:
    """A test double for systemctl: it records each request, and gives the same answer each time."""

    def __init__(self, *answer):
        self.answer, self.asked = answer, []

    def __call__(self, words):
        self.asked.append(words)
        if isinstance(self.answer[0], Exception):
            raise self.answer[0]
        return self.answer


def block(name, load="loaded", active="active", job=""):
    return "\n".join([f"Id={name}", f"LoadState={load}", f"ActiveState={active}", *([f"Job={job}"] if job else [])])


def test_states_in_the_order_of_the_names():
    said = "\n\n".join([block("a.service"), block("b.service", active="deactivating", job="51"), block("c.service", "not-found", "inactive", "0")]) + "\n"
    systemctl = FakeSystemctl(0, said, "")
    assert SystemdServices(systemctl).states(["a", "b.service", "c"]) == [
        ServiceState("a", True, "active", False),
        ServiceState("b.service", True, "deactivating", True),
        ServiceState("c", False, "inactive", False),
    ]
    assert systemctl.asked == [["systemctl", "show", "--property=Id,LoadState,ActiveState,Job", "--", "a", "b.service", "c"]]


def test_a_pattern_that_fits_several_units_is_refused():
    said = block("a.service") + "\n\n" + block("b.service") + "\n"
    with pytest.raises(ServiceError, match="answered for 2 units and was asked for 1"):
        SystemdServices(FakeSystemctl(0, said, "")).states(["*"])
    with pytest.raises(ServiceError, match="answered for 1 units and was asked for 2"):
        SystemdServices(FakeSystemctl(0, "", "")).states(["a", "b"])


def test_an_empty_answer_is_no_state():
    (state,) = SystemdServices(FakeSystemctl(0, "\n", "")).states(["a"])
    assert state.state == "" and not state.has_job


def test_stop_and_start_do_not_wait():
    systemctl = FakeSystemctl(0, "", "")
    services = SystemdServices(systemctl)
    services.stop(["-x", "b"])
    services.start(["b"])
    assert systemctl.asked == [["systemctl", "stop", "--no-block", "--", "-x", "b"], ["systemctl", "start", "--no-block", "--", "b"]]


@pytest.mark.parametrize(
    "answer,words",
    [
        ((1, "", "System has not been booted with systemd\n"), "exit code 1: System has not been booted"),
        ((5, "said here", ""), "exit code 5: said here"),
        ((5, "", ""), "no output"),
        ((1, "", "x" * 5000), "x" * 400),
        ((FileNotFoundError(2, "No such file or directory", "systemctl"),), "systemctl cannot be run"),
    ],
)
def test_what_systemctl_refuses_is_reported(answer, words):
    services = SystemdServices(FakeSystemctl(*answer))
    for ask in (services.states, services.stop, services.start):
        with pytest.raises(ServiceError) as caught:
            ask(["a"])
        assert words in str(caught.value) and len(str(caught.value)) < 600
