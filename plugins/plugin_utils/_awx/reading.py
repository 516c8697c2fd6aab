# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Read what AWX has of the wanted objects. HTTP stays behind the function ``ask``, which is lookup awx.awx.controller_api."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...module_utils._scheduled_events.core.types import Data, Values
from .._core.wrong_input import WrongInput
from .hiding import hide_found
from .kinds import BY_NAME, ENDPOINTS, NOTIFIED, STARTED

Ask = Callable[[str, Values], list[Data]]

# What an organization owns, as endpoints.
OWNED = ("teams", "credentials", "execution_environments", "notification_templates", "projects", "inventories", "job_templates", "workflow_job_templates")
# Kinds that must not be removed while in use: kind -> AWX's lists of users, and the field. An organization takes all that it owns with it.
USERS = {
    "organization": [(endpoint, "organization") for endpoint in OWNED],
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


# Kinds that need no other object of the data set but the organization. For the others AWX may say no only because those do not exist yet.
ALONE = ("organization", "execution_environment", "notification_template", "project", "inventory")


def read(objects: Sequence[Values], ask: Ask, with_users: bool) -> list[Data]:
    """Return for each object what AWX has of it, in the same order; empty if it has none. Secrets are hidden. with_users: also read its users."""
    return [hide_found(one, _read_one(one, ask, with_users)) for one in objects]


def _read_one(one: Values, ask: Ask, with_users: bool) -> Data:
    kind, arguments = str(one["kind"]), one["arguments"]
    found = ask(ENDPOINTS.get(kind, f"{kind}s"), query(kind, arguments))
    # Deletion takes AWX a while. Where it is the only one of its name, its creator has to wait for that.
    found = [each for each in found if not each.get("pending_deletion")] or (found[:1] if one["made"] else [])
    if len(found) > 1:
        raise WrongInput(
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
            running = {"unified_job_template": item["id"], "status__in": "new,pending,waiting,running"}
            item["jobs"] = [int(job["id"]) for job in ask("unified_jobs", running)] if kind in STARTED else []
    return item


def deleting(found: Sequence[Values]) -> list[str]:
    """Return the names of objects that AWX is still deleting."""
    return [str(item["name"]) for item in found if item.get("pending_deletion")]


def denied(objects: Sequence[Values], found: Sequence[Values], may_make: Callable[[str], bool]) -> list[str]:
    """Return the kinds that are missing in AWX and that this user may not create."""
    missing = {str(one["kind"]) for one, item in zip(objects, found, strict=True) if one["made"] and not item}
    return [kind for kind in ALONE if kind in missing and not may_make(ENDPOINTS[kind])]


def query(kind: str, arguments: Values) -> Data:
    """Return the query that finds an object, with names of related objects if its name alone is not unique."""
    query = {"name": arguments["name"]}
    for scope in BY_NAME[kind].scope if kind in BY_NAME else ():
        if arguments.get(scope):
            query[f"{scope}__name"] = arguments[scope]
    if kind == "inventory_source" and arguments.get("organization"):
        query["inventory__organization__name"] = arguments["organization"]
    return query


def _more(kind: str, item: Values, arguments: Values, ask: Ask) -> Data:
    """Read what AWX keeps at separate endpoints."""
    place = f"{ENDPOINTS[kind]}/{item['id']}"
    more: Data = {}
    for option in (*NOTIFIED, "instance_groups"):
        if option in arguments:
            more[option] = [str(each["name"]) for each in ask(f"{place}/{option}", {})]
    if "survey_spec" in arguments:
        found = ask(f"{place}/survey_spec", {})
        more["survey_spec"] = found[0] if found else {}
    if "workflow_nodes" in arguments:
        nodes = ask("workflow_job_template_nodes", {"workflow_job_template": item["id"]})
        more["workflow_nodes"] = [_node(node, ask) for node in nodes]
    return more


def _node(node: Values, ask: Ask) -> Data:
    """Return a node with the timeout of its approval, which AWX does not show with the node."""
    summary = node.get("summary_fields") or {}
    started = summary.get("unified_job_template") or {}
    if started.get("unified_job_type") != "workflow_approval" or "timeout" in started:
        return dict(node)
    approval = ask(f"workflow_approval_templates/{started['id']}", {})[0]
    return {**node, "summary_fields": {**summary, "unified_job_template": {**started, "timeout": approval.get("timeout", 0)}}}


def _user(endpoint: str, user: Values) -> Data:
    """Return a user of an object. A node stands for its workflow."""
    if endpoint == "workflow_job_template_nodes":
        name = (user.get("summary_fields") or {}).get("workflow_job_template", {}).get("name", "a workflow")
        return {"endpoint": "workflow_job_templates", "id": user["workflow_job_template"], "name": name}
    return {"endpoint": endpoint, "id": user["id"], "name": user.get("name", str(user["id"]))}
