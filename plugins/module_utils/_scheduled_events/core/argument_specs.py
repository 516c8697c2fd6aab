# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Argument specifications of the modules, as functions that return a new dictionary each time."""

from __future__ import annotations

import typing as t

from .errors import ScheduledEventsError
from .types import Data, Values

DEFAULT_ENDPOINT = "http://169.254.169.254"
# Instead of an address: discover the endpoint, as a VM outside a virtual network has to.
DISCOVER = "discover"
# Newest first: the order in which "auto" tries them.
API_VERSIONS = (
    "2020-07-01",
    "2019-08-01",
    "2019-04-01",
    "2019-01-01",
    "2017-11-01",
    "2017-08-01",
    "2017-03-01",
)
WAIT_STATES = ("scheduled", "started", "gone", "changed")
# The upper limit of each request, wait and pause; the operating system's timeouts overflow far above it.
LONGEST_SECONDS = 10 * 365 * 86400

Spec = t.Dict[str, Data]


def shared_arguments() -> Spec:
    """Return the options for the endpoint, its timeouts and retries: those of every module that talks to it."""
    return {
        "endpoint": {"type": "str", "default": DEFAULT_ENDPOINT},
        "api_version": {"type": "str", "default": "auto", "choices": ["auto"] + list(API_VERSIONS)},
        "connect_timeout": {"type": "float", "default": 5.0},
        "request_timeout": {"type": "float", "default": 125.0},
        "retries": {"type": "int", "default": 3},
        "vm_name": {"type": "str"},
    }


def selection_arguments() -> Spec:
    """Return the options that select events."""
    return {
        "event_ids": {"type": "list", "elements": "str"},
        "event_types": {"type": "list", "elements": "str"},
        "event_statuses": {"type": "list", "elements": "str"},
        "event_sources": {"type": "list", "elements": "str"},
        "resources": {"type": "list", "elements": "str"},
        "affecting": {"type": "str", "default": "any", "choices": ["any", "this_vm"]},
    }


def wait_arguments() -> Spec:
    """Return the options for what to wait for, and for how long."""
    return {
        "state": {"type": "str", "required": True, "choices": list(WAIT_STATES)},
        "since_incarnation": {"type": "int"},
        "approved": {"type": "bool", "default": False},
        "timeout": {"type": "float", "default": 1800.0},
        "poll_interval": {"type": "float", "default": 1.0},
    }


def approve_arguments() -> Spec:
    """Return the options for the events to approve, and for the VMs that they may affect."""
    return {
        "event_ids": {"type": "list", "elements": "str", "required": True},
        "approve_for": {"type": "list", "elements": "str"},
        "fail_on_missing": {"type": "bool", "default": False},
    }


def check_numbers(options: Values) -> None:
    """Refuse numbers out of range before anything is sent. Raise ScheduledEventsError of kind bad_option."""
    for name in ("connect_timeout", "request_timeout", "poll_interval"):
        value = options.get(name)
        # In this order the comparison also refuses NaN.
        if value is not None and not 0 < value <= LONGEST_SECONDS:
            raise _bad_number(name, value, "more than 0")
    for name in ("timeout", "retries"):
        value = options.get(name)
        if value is not None and not 0 <= value <= LONGEST_SECONDS:
            raise _bad_number(name, value, "0 or more")


def _bad_number(name: str, value: t.Any, wanted: str) -> ScheduledEventsError:
    return ScheduledEventsError(f"{name} is {value}; it must be {wanted}.", "bad_option")
