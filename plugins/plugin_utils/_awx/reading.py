# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what AWX has of the wanted objects. HTTP stays behind the function ``ask``, which is lookup awx.awx.controller_api."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .hiding import hide_found
from .kinds import BY_NAME, ENDPOINTS, NOTIFIED, AwxError

Ask = Callable[[str, Mapping[str, Any]], list[dict[str, Any]]]

# Kinds that must not be removed while in use: kind -> AWX's lists of users, and the field. An organization takes all that it owns with it.
USERS = {
    "organization": [
        (endpoint, "organization")
        for endpoint in (
            "teams",
            "credentials",
            "execution_environments",
            "notification_templates",
            "projects",
            "inventories",
            "job_templates",
            "workflow_job_templates",
        )
    ],
    "execution_environment": [
        ("job_templates", "execution_environment"),
        ("inventory_sources", "execution_environment"),
        ("organizations", "default_environment"),
        ("projects", "default_environment"),
    ],
    "project": [("job_templates", "project"), ("inventory_sources", "source_project"), ("workflow_job_template_nodes", "unified_job_template")],
    "inventory": [("job_templates", "inventory"), ("workflow_job_templates", "inventory")],
    "inventory_source": [("workflow_job_template_nodes", "unified_job_template"), ("schedules", "unified_job_template")],
    "job_template": [("workflow_job_template_nodes", "unified_job_template"), ("schedules", "unified_job_template")],
    "workflow_job_template": [("workflow_job_template_nodes", "unified_job_template"), ("schedules", "unified_job_template")],
}


def read(objects: Sequence[Mapping[str, Any]], ask: Ask, with_users: bool) -> list[dict[str, Any]]:
    """Return for each object what AWX has of it, in the same order; empty if it has none. Secrets are hidden. with_users: also read its users."""
    return [hide_found(one, _read_one(one, ask, with_users)) for one in objects]


def _read_one(one: Mapping[str, Any], ask: Ask, with_users: bool) -> dict[str, Any]:
    kind, arguments = str(one["kind"]), one["arguments"]
    found = ask(ENDPOINTS.get(kind, f"{kind}s"), _query(kind, arguments))
    if len(found) > 1:
        raise AwxError(
            f"AWX has {len(found)} of the name {one['name']} among its {ENDPOINTS.get(kind, kind)}, and the modules of awx.awx find them by name alone; "
            "rename all but one, or set awx_prefix"
        )
    if not found:
        return {}
    item = dict(found[0])
    if one["made"]:
        item["more"] = _more(kind, item, arguments, ask)
        if with_users:
            item["users"] = [_user(endpoint, user) for endpoint, field in USERS.get(kind, []) for user in ask(endpoint, {field: item["id"]})]
    return item


def _query(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query that finds an object, with names of related objects if its name alone is not unique."""
    query = {"name": arguments["name"]}
    for scope in BY_NAME[kind].scope if kind in BY_NAME else ():
        if arguments.get(scope):
            query[f"{scope}__name"] = arguments[scope]
    if kind == "inventory_source" and arguments.get("organization"):
        query["inventory__organization__name"] = arguments["organization"]
    return query


def _more(kind: str, item: Mapping[str, Any], arguments: Mapping[str, Any], ask: Ask) -> dict[str, Any]:
    """Read what AWX keeps at separate endpoints."""
    place = f"{ENDPOINTS[kind]}/{item['id']}"
    more: dict[str, Any] = {}
    for option in (*NOTIFIED, "instance_groups"):
        if option in arguments:
            more[option] = [str(each["name"]) for each in ask(f"{place}/{option}", {})]
    if "survey_spec" in arguments:
        found = ask(f"{place}/survey_spec", {})
        more["survey_spec"] = found[0] if found else {}
    if "workflow_nodes" in arguments:
        more["workflow_nodes"] = ask("workflow_job_template_nodes", {"workflow_job_template": item["id"]})
    return more


def _user(endpoint: str, user: Mapping[str, Any]) -> dict[str, Any]:
    """Return a user of an object. A node stands for its workflow."""
    if endpoint == "workflow_job_template_nodes":
        name = (user.get("summary_fields") or {}).get("workflow_job_template", {}).get("name", "a workflow")
        return {"endpoint": "workflow_job_templates", "id": user["workflow_job_template"], "name": name}
    return {"endpoint": endpoint, "id": user["id"], "name": user.get("name", str(user["id"]))}
