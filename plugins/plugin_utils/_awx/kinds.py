# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The kinds of objects that the role creates in AWX: the role's variable, AWX's endpoint, and the relations to other objects."""

from __future__ import annotations

from dataclasses import dataclass

MARK = "[maintenance.azure]"


@dataclass(frozen=True)
class Kind:
    """One kind of object."""

    name: str  # name of the module
    variable: str  # variable of the role
    endpoint: str  # endpoint of AWX
    aap: str  # variable of infra.aap_configuration
    scope: tuple[str, ...] = ()  # what makes the name unique, besides the name
    described: bool = True  # whether it has a description, where the role puts its mark
    removable: bool = True

    @property
    def relations(self) -> dict[str, str]:
        """Return for each option of the module that names an object the kind of that object."""
        return RELATIONS.get(self.name, {})

    @property
    def label(self) -> str:
        """Return the kind as text for messages."""
        return {"workflow_job_template": "workflow"}.get(self.name, self.name.replace("_", " "))


NOTIFIED = ("notification_templates_started", "notification_templates_success", "notification_templates_error", "notification_templates_approvals")
ORGANIZED = {"organization": "organization"}
STARTABLE = {**ORGANIZED, **dict.fromkeys(NOTIFIED, "notification_template")}
IN_ORGANIZATION = ("organization",)


def _like(*kinds: str) -> dict[str, str]:
    """Return relations whose options have the names of the kinds."""
    return {kind: kind for kind in kinds}


# For each kind the options that name other objects.
RELATIONS = {
    "execution_environment": _like("organization", "credential"),
    "notification_template": ORGANIZED,
    "project": {**STARTABLE, "credential": "credential", "default_environment": "execution_environment"},
    "inventory": {**ORGANIZED, "instance_groups": "instance_group", "input_inventories": "inventory"},
    "inventory_source": {**STARTABLE, **_like("inventory", "credential", "execution_environment"), "source_project": "project"},
    "label": ORGANIZED,
    "job_template": {
        **STARTABLE,
        **_like("project", "inventory", "execution_environment"),
        "credentials": "credential",
        "labels": "label",
        "instance_groups": "instance_group",
    },
    "workflow_job_template": {**STARTABLE, "inventory": "inventory", "labels": "label"},
    "schedule": _like("unified_job_template", "organization"),
}
# In order of creation: an object comes after those that it refers to.
KINDS = (
    Kind("organization", "awx_organization", "organizations", "aap_organizations"),
    Kind("execution_environment", "awx_execution_environments", "execution_environments", "controller_execution_environments"),
    Kind("notification_template", "awx_notification_templates", "notification_templates", "controller_notifications", IN_ORGANIZATION),
    Kind("project", "awx_projects", "projects", "controller_projects", IN_ORGANIZATION),
    Kind("inventory", "awx_inventories", "inventories", "controller_inventories", IN_ORGANIZATION),
    Kind("inventory_source", "awx_inventory_sources", "inventory_sources", "controller_inventory_sources", ("inventory",)),
    Kind("label", "awx_labels", "labels", "controller_labels", IN_ORGANIZATION, described=False, removable=False),
    Kind("job_template", "awx_job_templates", "job_templates", "controller_templates", IN_ORGANIZATION),
    Kind("workflow_job_template", "awx_workflows", "workflow_job_templates", "controller_workflows", IN_ORGANIZATION),
    Kind("schedule", "awx_schedules", "schedules", "controller_schedules", ("unified_job_template",)),
)
BY_NAME = {kind.name: kind for kind in KINDS}
# Kinds that are only referred to: their objects must exist.
ENDPOINTS = {**{kind.name: kind.endpoint for kind in KINDS}, "credential": "credentials", "instance_group": "instance_groups"}
# Kinds that a schedule or a node may start.
STARTED = ("job_template", "workflow_job_template", "project", "inventory_source")
