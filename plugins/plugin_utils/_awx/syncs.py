# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The syncs of projects. Module awx.awx.project waits for one without a limit, and starts none for an unchanged project whose last one failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ...module_utils._scheduled_events.core.types import Data, Values
from .kinds import BY_NAME
from .reading import Ask, query

RUNNING = ("new", "pending", "waiting", "running")
GOOD = ("successful", "ok")
# The end of what the sync printed; its last error says why.
LINES = 5
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# Events about the whole sync, such as the recap, count as failed with it and have no reason.
WHOLE = "playbook_on_"
CANCEL = 'curl -X POST -H "Authorization: Bearer $CONTROLLER_OAUTH_TOKEN" "$CONTROLLER_HOST/api/v2/project_updates/{}/cancel/"'
ENDED = "see awx_repository, awx_repository_branch, awx_project_credential and the proxy of AWX's jobs, then run this again: it starts the next sync"
NOT_BEGUN = "AWX may lack a free instance or a running dispatcher: run this again when it has ended, or raise awx_wait_seconds"


def usable(item: Values) -> bool:
    """Return whether AWX knows the playbooks of a project, or will know them when a running sync has ended. A manual project has no syncs."""
    return not item.get("scm_type") or item.get("status", "ok") in (*GOOD, *RUNNING)


def look(objects: Sequence[Values], ask: Ask) -> list[Data]:
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


def problem(sync: Values, ask: Ask, seconds: int) -> str:
    """Return why a project cannot be used, and what to do: its sync has not ended, or the last error lines of the sync."""
    words, advice = _not_ended(sync["item"], ask, seconds) if sync["running"] else _ended(sync["item"], ask)
    return f"project {sync['name']}: {words} - {advice}"


def _ended(item: Values, ask: Ask) -> tuple[str, str]:
    summary = item.get("summary_fields") or {}
    update = summary.get("last_update") or summary.get("last_job") or {}
    lines = _errors(int(update["id"]), ask) if "id" in update else []
    return f"its sync ended as {item.get('status', 'missing')}{': ' if lines else ''}{'; '.join(lines)}", ENDED


def _not_ended(item: Values, ask: Ask, seconds: int) -> tuple[str, str]:
    """AWX runs one sync of a project at a time, in the order of their ids and without a time limit. Syncs of job type run are parts of jobs."""
    asked = {"project": item.get("id"), "job_type": "check", "status__in": ",".join(RUNNING), "order_by": "id"}
    updates = ask("project_updates", asked)
    first: Values = next((update for update in updates if update.get("status") == "running"), {})
    words = f"its sync has not ended after {seconds} s, its status is {item.get('status')}"
    if not first:
        return words, NOT_BEGUN
    server = f"{_server(first.get('scm_url') or item.get('scm_url'))} does not answer, or AWX's jobs do not reach it"
    cancel = f"cancel sync {first['id']}, which AWX never ends by itself: {CANCEL.format(first['id'])}"
    if first["id"] == updates[-1]["id"]:
        return f"{words}: {server}", f"see awx_repository and the proxy of AWX's jobs, {cancel}; then run this again"
    return f"{words}: it waits for the older sync {first['id']}, which is running: {server}", f"{cancel}; then run this again"


def _server(url: Any) -> str:
    """Return the Git server for messages, without what else an address may have, such as a password. git@HOST:PATH is an address, too."""
    text = str(url or "")
    host = urlsplit(text).hostname if "://" in text else text.rpartition("@")[2].partition(":")[0]
    return f"the Git server {host}" if host else "the Git server"


def _errors(update: int, ask: Ask) -> list[str]:
    """Return the last error lines of a sync."""
    details = ask(f"project_updates/{update}", {})[0]
    found = [str(details.get(key) or "") for key in ("job_explanation", "result_traceback")]
    for event in ask(f"project_updates/{update}/events", {"failed": "true", "order_by": "counter"}):
        if str(event.get("event")).startswith(WHOLE):
            continue
        result = (event.get("event_data") or {}).get("res") or {}
        found.append(str(result.get("msg") or event.get("stdout") or ""))
    lines = [line.strip() for text in found for line in COLOUR.sub("", text).splitlines() if line.strip()]
    return list(dict.fromkeys(lines))[-LINES:]
