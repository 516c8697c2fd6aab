# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The syncs of projects. Module awx.awx.project waits for one without a limit, and starts none for an unchanged project whose last one failed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .kinds import BY_NAME
from .reading import Ask, query

RUNNING = ("new", "pending", "waiting", "running")
GOOD = ("successful", "ok")
# The end of what the sync printed; its last error says why.
LINES = 5
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def usable(item: Mapping[str, Any]) -> bool:
    """Return whether AWX knows the playbooks of a project, or will know them when a running sync has ended. A manual project has no syncs."""
    return not item.get("scm_type") or item.get("status", "ok") in (*GOOD, *RUNNING)


def look(objects: Sequence[Mapping[str, Any]], ask: Ask) -> list[dict[str, Any]]:
    """Return the state of each project: good, running, and start (whether a sync has to be started). Skip those whose entry says wait: false."""
    syncs = []
    for one in objects:
        if one["arguments"].get("wait", True):
            item = next(iter(ask(BY_NAME["project"].endpoint, query("project", one["arguments"]))), {})
            good = not item.get("scm_type") or item.get("status") in GOOD
            running = not good and item["status"] in RUNNING
            start = not running and (not good or bool(one["arguments"].get("update_project")))
            given = {"name": one["name"], "organization": one["arguments"]["organization"]}
            syncs.append({**given, "good": good, "running": running, "start": start, "item": item})
    return syncs


def problem(sync: Mapping[str, Any], ask: Ask, seconds: int) -> str:
    """Return why a project cannot be used: that its sync has not ended, or the last error lines of the sync."""
    status, summary = sync["item"].get("status", "missing"), sync["item"].get("summary_fields") or {}
    if sync["running"]:
        return f"project {sync['name']}: its sync has not ended after {seconds} s, its status is {status}"
    update = summary.get("last_update") or summary.get("last_job") or {}
    lines = _errors(int(update["id"]), ask) if "id" in update else []
    return f"project {sync['name']}: its sync ended as {status}{': ' if lines else ''}{'; '.join(lines)}"


def _errors(update: int, ask: Ask) -> list[str]:
    """Return the last error lines of a sync."""
    details = ask(f"project_updates/{update}", {})[0]
    found = [str(details.get(key) or "") for key in ("job_explanation", "result_traceback")]
    for event in ask(f"project_updates/{update}/events", {"failed": "true", "order_by": "counter"}):
        result = (event.get("event_data") or {}).get("res") or {}
        found.append(str(result.get("msg") or event.get("stdout") or ""))
    lines = [line.strip() for text in found for line in COLOUR.sub("", text).splitlines() if line.strip()]
    return list(dict.fromkeys(lines))[-LINES:]
