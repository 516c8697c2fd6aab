# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A STAND-IN for AWX: objects in a JSON file, looked up, shown and refused as AWX's API does it. Only what role awx meets."""

from __future__ import annotations

import json
import os
import pathlib

# Which fields name other objects: field -> endpoint.
ONE = {
    "organization": "organizations",
    "project": "projects",
    "source_project": "projects",
    "inventory": "inventories",
    "execution_environment": "execution_environments",
    "default_environment": "execution_environments",
    "credential": "credentials",
    "unified_job_template": "unified_job_templates",
    "workflow_job_template": "workflow_job_templates",
}
MANY = {
    "labels": "labels",
    "credentials": "credentials",
    "instance_groups": "instance_groups",
    "notification_templates_started": "notification_templates",
    "notification_templates_success": "notification_templates",
    "notification_templates_error": "notification_templates",
    "notification_templates_approvals": "notification_templates",
}
STARTED = ("job_templates", "workflow_job_templates", "projects", "inventory_sources", "workflow_approval_templates")
JOBS = {"job_templates": "job", "workflow_job_templates": "workflow_job", "workflow_approval_templates": "workflow_approval"}
# What goes when something goes: endpoint -> where, by which field.
OWNED = {
    "organizations": [(endpoint, "organization") for endpoint in ("teams", "credentials", "execution_environments", "notification_templates", "labels")]
    + [(endpoint, "organization") for endpoint in ("workflow_job_templates", "job_templates", "projects")],
    "inventories": [("inventory_sources", "inventory")],
    "projects": [("project_updates", "project"), ("schedules", "unified_job_template")],
    "inventory_sources": [("schedules", "unified_job_template")],
    "job_templates": [("workflow_job_template_nodes", "unified_job_template"), ("schedules", "unified_job_template")],
    "workflow_job_templates": [("workflow_job_template_nodes", "workflow_job_template"), ("schedules", "unified_job_template")],
}


# Jobs that have not ended.
ACTIVE = ("new", "pending", "waiting", "running")


class Refused(Exception):
    """In the words of awx.awx's module_utils/controller_api.py."""


class Store:
    """The file. Rules: tokens (who may log in), down, deny (list of "METHOD endpoint", also PATCH and DELETE), playbooks (of a synchronized project),
    syncs (how the next ones end: successful or failed; or never: stuck does not begin, silent runs for ever), deletion (after how many looks an inventory
    is gone), starts_late (a job that starts when something is removed), invalid."""

    def __init__(self):
        self.path = pathlib.Path(os.environ["AWX_STAND_IN_STORE"])
        known = json.loads(self.path.read_text(encoding="utf-8"))
        self.objects, self.rules, self.log, self.next_id = known["objects"], known["rules"], known["log"], known["next_id"]

    def save(self):
        known = {"objects": self.objects, "rules": self.rules, "log": self.log, "next_id": self.next_id}
        self.path.write_text(json.dumps(known, indent=1), encoding="utf-8")

    def enter(self, method, endpoint):
        """One request: is there anybody, are we known, are we allowed?"""
        if self.rules.get("down"):
            raise Refused("There was a network error of some kind trying to connect to your host (Connection refused): awx.example.com.")
        if os.environ.get("CONTROLLER_OAUTH_TOKEN") not in self.rules.get("tokens", []):
            raise Refused("Invalid authentication credentials for /api/v2/%s/ (HTTP 401)." % endpoint)
        if "%s %s" % (method, endpoint.split("/")[0]) in self.rules.get("deny", []):
            raise Refused("You don't have permission to %s to /api/v2/%s/ (HTTP 403)." % (method, endpoint))
        if method != "GET":
            self.log.append("%s %s" % (method, endpoint))

    # Time, which passes with each look of the lookup

    def tick(self):
        for update in [each for each in self.objects.get("project_updates", []) if each["status"] in ACTIVE and each["outcome"] != "stuck"]:
            # One of a project at a time.
            if self.syncing(self.by_id("projects", update["project"])) is not update:
                continue
            update["looks_left"] -= 1
            if update["looks_left"] < 0:
                self.set_status(update, "running" if update["outcome"] == "silent" else update["outcome"])
        for inventory in [each for each in self.objects.get("inventories", []) if each.get("pending_deletion")]:
            inventory["looks_left"] -= 1
            if inventory["looks_left"] < 0:
                self.remove("inventories", inventory)

    def sync(self, project):
        """AWX starts one by itself for a new project, and for one whose source has changed."""
        outcomes = self.rules.get("syncs") or ["successful"]
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        message = "Failed to download remote objects and refs: fatal: unable to access '%s': Could not resolve host" % project.get("scm_url", "")
        update = {"id": self.next_id, "project": project["id"], "outcome": outcome, "job_explanation": "", "message": message, "looks_left": 1}
        update.update(job_type="check", scm_url=project.get("scm_url", ""))
        self.next_id += 1
        self.objects.setdefault("project_updates", []).append(update)
        self.set_status(update, "pending")
        return update

    def set_status(self, update, status):
        """A project has the status of its newest sync."""
        project = self.by_id("projects", update["project"])
        update["status"] = status
        if [each for each in self.objects["project_updates"] if each["project"] == project["id"]][-1] is update:
            project["status"] = status

    def syncing(self, project):
        """The oldest one that has not ended: the others wait for it."""
        return next((each for each in self.objects.get("project_updates", []) if each["project"] == project["id"] and each["status"] in ACTIVE), None)

    # Looking up

    def all(self, endpoint):
        if endpoint == "unified_job_templates":
            return [item for each in STARTED for item in self.objects.get(each, [])]
        return self.objects.get(endpoint, [])

    def by_id(self, endpoint, number):
        return next((item for item in self.all(endpoint) if item["id"] == number), None)

    def endpoint_of(self, number):
        return next(endpoint for endpoint, items in self.objects.items() if any(item["id"] == number for item in items))

    def find(self, endpoint, query):
        self.enter("GET", endpoint)
        fields = {key: value for key, value in query.items() if key != "order_by"}
        found = [item for item in self.all(endpoint) if all(self.matches(item, key.split("__"), value) for key, value in fields.items())]
        return sorted(found, key=lambda item: item[query["order_by"]]) if "order_by" in query else found

    def matches(self, item, path, value):
        if path[-1] == "in":
            return any(self.matches(item, path[:-1], one) for one in value.split(","))
        if len(path) == 1:
            if path[0] not in item and path[0] not in ONE:
                raise Refused("Failed to query the API: no field named %s" % path[0])
            return str(item.get(path[0])) == str(value)
        related = self.by_id(ONE[path[0]], item.get(path[0]))
        return related is not None and self.matches(related, path[1:], value)

    def one(self, endpoint, name, **query):
        """get_exactly_one."""
        found = self.find(endpoint, {"name": name, **query})
        # As there: a number may be an id.
        found += [item for item in self.all(endpoint) if str(item["id"]) == str(name) and item not in found]
        if len(found) != 1:
            asked = "&".join("%s=%s" % pair for pair in {"name": name, **query}.items())
            raise Refused("Request to /api/v2/%s/?%s returned %d items, expected 1" % (endpoint, asked, len(found)))
        return found[0]

    # Showing

    def view(self, endpoint, item):
        shown = {key: value for key, value in item.items() if key not in MANY and key != "survey_spec"}
        summary = {}
        for field, where in ONE.items():
            related = self.by_id(where, item.get(field))
            if related is not None:
                summary[field] = {"id": related["id"], "name": related.get("name"), "description": related.get("description", "")}
                if field == "unified_job_template":
                    summary[field]["unified_job_type"] = JOBS.get(self.endpoint_of(related["id"]), "")
        for field in ("labels", "credentials"):
            names = [{"id": number, "name": self.by_id(field, number)["name"]} for number in item.get(field, [])]
            summary[field] = {"count": len(names), "results": names} if field == "labels" else names
        if endpoint == "projects":
            updates = [each for each in self.objects.get("project_updates", []) if each["project"] == item["id"]]
            for key, one in (("current_update", self.syncing(item)), ("last_update", next((each for each in reversed(updates)), None))):
                summary.update({key: {"id": one["id"], "status": one["status"]}} if one else {})
        denied = self.rules.get("deny", [])
        summary["user_capabilities"] = {"edit": "PATCH %s" % endpoint not in denied, "delete": "DELETE %s" % endpoint not in denied}
        shown.update(summary_fields=summary, url="/api/v2/%s/%d/" % (endpoint, item["id"]), type=endpoint[:-1])
        return shown

    # Writing

    def create(self, endpoint, fields):
        self.enter("POST", endpoint)
        item = {"id": self.next_id, **fields}
        self.next_id += 1
        self.objects.setdefault(endpoint, []).append(item)
        if endpoint == "projects" and item.get("scm_type"):
            self.sync(item)
        return item

    def update(self, endpoint, item, fields):
        self.enter("PATCH", endpoint)
        moved = any(item.get(field) != value for field, value in fields.items() if field.startswith("scm_") or field == "credential")
        item.update(fields)
        if endpoint == "projects" and item.get("scm_type") and moved:
            self.sync(item)

    def delete(self, endpoint, item):
        self.enter("DELETE", endpoint)
        for job in [each for each in self.objects.get("unified_jobs", []) if each["id"] == self.rules.get("starts_late")]:
            job["status"] = "running"
        if any(job["unified_job_template"] == item["id"] and job["status"] in ACTIVE for job in self.objects.get("unified_jobs", [])):
            raise Refused("Unable to delete %s %s: Resource is being used by running jobs." % (endpoint[:-1], item.get("name")))
        if endpoint == "inventories":
            # A task of AWX does it later. Templates lose the inventory at once.
            item.update(pending_deletion=True, looks_left=self.rules.get("deletion", 1))
            for other in (each for where in ("job_templates", "workflow_job_templates") for each in self.objects.get(where, [])):
                other.update({"inventory": None} if other.get("inventory") == item["id"] else {})
            return
        self.remove(endpoint, item)
        used = {number for each in ("job_templates", "workflow_job_templates") for owner in self.all(each) for number in owner.get("labels", [])}
        self.objects["labels"] = [label for label in self.all("labels") if label["id"] in used or not label.get("was_used")]

    def remove(self, endpoint, item):
        for where, field in OWNED.get(endpoint, []):
            for owned in [each for each in self.all(where) if each.get(field) == item["id"]]:
                self.remove(where, owned)
        if item in self.objects.get(endpoint, []):
            self.objects[endpoint].remove(item)
        for items in self.objects.values():
            for other in items:
                for field in ONE:
                    if other.get(field) == item["id"]:
                        other[field] = None
