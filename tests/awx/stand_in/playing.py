# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A STAND-IN for the modules of awx.awx, over the stand-in for AWX in store.py. What each does, and in which order, was read in their source."""

from __future__ import annotations

import json

from ansible.plugins.action import ActionBase
from ansible_collections.awx.awx.plugins.plugin_utils import workflow
from ansible_collections.awx.awx.plugins.plugin_utils.options import AUTH, MODULES
from ansible_collections.awx.awx.plugins.plugin_utils.store import MANY, ONE, Refused, Store

ENDPOINTS = {"inventory": "inventories"}
JSON_TEXTS = ("extra_vars", "variables", "source_vars")
# No fields of the object.
OTHERS = ("name", "new_name", "copy_from", "state", "wait", "interval", "update_project", "survey_spec", "workflow_nodes", "destroy_current_nodes")
EMPTY = {"str": "", "bool": False, "int": 0, "float": 0, "dict": {}}
# What AWX has of an object that nobody said anything about.
AWX_DEFAULTS = {"job_slice_count": 1}


class Playing(ActionBase):
    """The action plugin of one module. It runs on the controller, which is where these modules run anyway, and much faster."""

    NAME = ""
    TRANSFERS_FILES = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        _checked, params = self.validate_argument_spec({name: dict(option) for name, option in {**MODULES[self.NAME], **AUTH}.items()})
        result["changed"] = False
        store = Store()
        try:
            module = Module(self.NAME, params, store, bool(self._task.check_mode), result)
            module.update() if self.NAME == "project_update" else module.act()
        except Refused as refused:
            result.update(failed=True, msg=str(refused))
        except Exited:
            pass
        if not self._task.check_mode:
            store.save()
        return result


class Exited(Exception):
    """In check mode the modules end at the first request that would write."""


class Module:
    """One call."""

    def __init__(self, name, params, store, check_mode, result):
        self.name, self.params, self.store, self.check_mode, self.result = name, params, store, check_mode, result
        self.endpoint = ENDPOINTS.get(name, name + "s")

    def act(self):
        query = self.scope()
        found = self.store.find(self.endpoint, {"name": self.params["name"], **query})
        if len(found) > 1:
            self.store.one(self.endpoint, self.params["name"], **query)
        item = found[0] if found else None
        if self.params["state"] == "absent":
            if item is not None:
                self.write()
                self.store.delete(self.endpoint, item)
            return
        if self.params["state"] == "exists" and item is not None:
            self.result["id"] = item["id"]
            return
        fields, many = self.fields(query), self.many(query)
        new_survey = self.params.get("survey_spec") is not None and self.params["survey_spec"] != (item or {}).get("survey_spec", {})
        item = self.change(item, fields) if item is not None else self.create(fields)
        self.wait(item)
        for field, numbers in many.items():
            if sorted(item.get(field, [])) != sorted(numbers):
                self.write()
                item[field] = numbers
                for label in numbers if field == "labels" else []:
                    self.store.by_id("labels", label)["was_used"] = True
        if new_survey:
            self.write()
            item["survey_spec"] = self.params["survey_spec"]
        self.result["id"] = item["id"]
        if self.name == "workflow_job_template":
            workflow.build(self, item)

    def update(self):
        """project_update: starts a sync, and has no need to look whether one goes on."""
        query = {"organization": self.store.one("organizations", self.params["organization"])["id"]} if self.params["organization"] else {}
        project = self.store.one("projects", self.params["name"], **query)
        self.write()
        self.store.enter("POST", "projects/update")
        self.result["id"] = self.store.sync(project)["id"]
        if self.params["wait"]:
            self.wait(project)

    def wait(self, project):
        """As there: after a write until the sync has ended, without any limit. What fails here instead is a run without end."""
        update = self.store.syncing(project) if self.endpoint.startswith("project") and self.params["wait"] and self.result["changed"] else None
        if update is None:
            return
        if update["outcome"] in ("stuck", "silent"):
            raise Refused("STAND-IN: the real module waits here without end, and says nothing")
        while update["status"] == "pending":
            self.store.tick()
        if update["status"] != "successful":
            raise Refused("Project update failed")

    def write(self):
        self.result["changed"] = True
        if self.check_mode:
            raise Exited()

    def scope(self):
        """By what it is looked for besides its name."""
        query = {}
        if self.params.get("organization"):
            number = self.store.one("organizations", self.params["organization"])["id"]
            query = {} if self.name in ("execution_environment", "inventory_source", "schedule") else {"organization": number}
        if self.name == "inventory_source":
            within = {"organization": number} if self.params.get("organization") else {}
            query["inventory"] = self.store.one("inventories", self.params["inventory"], **within)["id"]
        if self.name == "schedule" and self.params.get("unified_job_template"):
            found = self.store.find("unified_job_templates", {"name": self.params["unified_job_template"]})
            if len(found) != 1:
                self.store.one("unified_job_templates", self.params["unified_job_template"])
            query["unified_job_template"] = found[0]["id"]
        return query

    def fields(self, query):
        fields = {"name": self.params.get("new_name") or self.params["name"], **query}
        for option, value in self.params.items():
            if option in OTHERS or option in MANY or option not in MODULES[self.name] or value is None or option in query:
                continue
            if option in JSON_TEXTS:
                fields[option] = json.dumps(value)
            elif option == "scm_type":
                fields[option] = "" if value == "manual" else value
            elif option in ONE:
                if not (self.name in ("schedule", "inventory_source") and option == "organization"):
                    fields[option] = self.related(option, value, query)["id"]
            else:
                fields[option] = value
        if self.name == "inventory":
            # As there: what is not given is null, and null is not the empty text that AWX keeps. It writes, though nothing changes.
            fields.update({field: self.params[field] for field in ("kind", "host_filter")})
        if self.name == "inventory_source" and fields.get("source") == "azure_rm" and "credential" not in fields:
            raise Refused("Unable to create inventory source %s: {'credential': ['Credential is required for a cloud source.']}" % self.params["name"])
        if self.name == "job_template" and fields.get("project") is not None:
            self.playbook(fields)
        return fields

    def related(self, option, name, query):
        if self.name == "job_template" and option == "project" and "organization" in query:
            found = self.store.find("projects", {"name": name, "organization": query["organization"]})
            if not found:
                raise Refused("The project %s in organization %s was not found on the controller instance server" % (name, self.params["organization"]))
            return found[0]
        return self.store.one(ONE[option], name)

    def playbook(self, fields):
        """AWX knows the playbooks of a project."""
        known = self.store.rules.get("playbooks")
        synchronized = self.store.by_id("projects", fields["project"]).get("status") == "successful"
        if not synchronized or known is not None and fields.get("playbook") not in known:
            raise Refused("Unable to create job_template %s: {'playbook': ['Playbook not found for project.']}" % self.params["name"])

    def many(self, query):
        found = {}
        for field, endpoint in MANY.items():
            names = self.params.get(field)
            if names is None:
                continue
            found[field] = []
            for name in names:
                if field == "labels":
                    labels = self.store.find("labels", {"name": name, **query})
                    if not labels:
                        raise Refused("Could not find label entry with name %s" % name)
                    found[field].append(labels[0]["id"])
                else:
                    found[field].append(self.store.one(endpoint, name)["id"])
        return found

    def create(self, fields):
        self.write()
        if self.store.rules.get("invalid") == self.name:
            # As there: the answer of AWX, which may repeat what it was sent.
            raise Refused("Unable to create %s %s: %s" % (self.name, self.params["name"], {"notification_configuration": ["%s is not valid" % fields]}))
        empty = {
            option: EMPTY[spec["type"]] if option not in ONE else None
            for option, spec in MODULES[self.name].items()
            if option not in OTHERS and option not in MANY and spec["type"] in EMPTY
        }
        empty.update({"host_filter": None} if self.name == "inventory" else {})
        empty.update({option: value for option, value in AWX_DEFAULTS.items() if option in empty})
        for text in JSON_TEXTS:
            empty.update({text: "---"} if text in empty else {})
        return self.store.create(self.endpoint, {**empty, **{field: value for field, value in fields.items() if value is not None}})

    def change(self, item, fields):
        if any(item.get(field) != value for field, value in fields.items()):
            kept = {field: "" if value is None and field == "kind" else value for field, value in fields.items()}
            if self.check_mode or any(item.get(field) != value for field, value in kept.items()):
                self.write()
            self.store.update(self.endpoint, item, kept)
        return item
