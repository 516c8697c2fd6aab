# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Explain why AWX or the collection awx.awx refuses: its own message, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .hiding import redact

# The first version whose module takes nodes in their present form; older versions were not tested.
OLDEST = (21, 11, 0)
INSTALL = "ansible-galaxy collection install 'awx.awx:>=21.11.0'"
HOST_VARIABLES = ("CONTROLLER_HOST", "TOWER_HOST")
LOGIN_VARIABLES = (("CONTROLLER_OAUTH_TOKEN",), ("TOWER_OAUTH_TOKEN",), ("CONTROLLER_USERNAME", "CONTROLLER_PASSWORD"), ("TOWER_USERNAME", "TOWER_PASSWORD"))

# Parts of their messages (module_utils/controller_api.py, read at commit 033cea7) -> what to do.
ADVICE = (
    (
        r"being used by running jobs",
        "wait for its jobs, or cancel them, then run this again; what was not removed yet has kept its schedules",
    ),
    (r"HTTP Error 401|HTTP 401|Invalid authentication", "AWX does not know this token, or this user and password"),
    (r"HTTP Error 403|HTTP 403|don't have permission", "the user may not do this: AWX's role for it, such as administrator of the organization, is missing"),
    (r"resolve controller_host|network error|trying to connect|secure connection|Failed to get user info", "see CONTROLLER_HOST and CONTROLLER_VERIFY_SSL"),
    (r"failed with status 50\d|server error", "AWX is overloaded or down; what was done stays, start the playbook again"),
    (r"returned 0 items|was not found|Could not find", "something that is named is not there, or this user may not see it"),
    (r"returned \d+ items", "several objects have this name: rename all but one, or set awx_prefix"),
    (r"Playbook not found|playbook.*project", "the project has no such playbook at its branch: see awx_repository and awx_repository_branch"),
)


def collection(version: str | None) -> str:
    """Return why this version of the collection awx.awx cannot be used, or empty text."""
    if version is None:
        return f"collection awx.awx is not installed where Ansible runs. To install it: {INSTALL}"
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(-devel)?", version)
    if numbers and not numbers[4] and tuple(int(number) for number in numbers.groups()[:3]) < OLDEST:
        return f"collection awx.awx {version} is too old, 21.11.0 is needed. To install it: {INSTALL} --upgrade"
    return ""


def login(environment: Mapping[str, str], configured: bool) -> str:
    """Return what is missing to log in, or empty text. configured: a configuration file of tower-cli exists, which may provide it."""
    if configured:
        return ""
    if not any(environment.get(name) for name in HOST_VARIABLES):
        return "the address of AWX is missing: set CONTROLLER_HOST in the environment, such as https://awx.example.com"
    if not any(all(environment.get(name) for name in names) for names in LOGIN_VARIABLES):
        return "the login is missing: set CONTROLLER_OAUTH_TOKEN in the environment, or CONTROLLER_USERNAME and CONTROLLER_PASSWORD"
    return ""


def explain(message: Any, what: str = "") -> str:
    """Return their message with our advice. what: the object that it is about."""
    text = " ".join(str(message).split())
    advice = next((advice for pattern, advice in ADVICE if re.search(pattern, text, re.IGNORECASE)), "")
    # A task may pass on a message that has our advice already.
    added = f" - {advice}" if advice and advice not in text else ""
    return f"{what + ': ' if what else ''}{text}{added}"


def failed(result: Any, hidden: Sequence[str] = ()) -> str:
    """Do the same for the result of a failed task, which may have looped over objects. hidden: secrets that its message may repeat."""
    return redact(_failed(result), hidden)


def _failed(result: Any) -> str:
    inner = result if isinstance(result, Mapping) else {}
    for item in inner.get("results") or []:
        if isinstance(item, Mapping) and item.get("failed"):
            one = item.get("__awx_change") or {}
            return explain(item.get("msg", "no reason given"), f"{one.get('words', '')}".strip())
    return explain(inner.get("msg", result))
