# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of objects that AWX gets from us: where the data set has them, where AWX has them, and what in them names other objects."""

from __future__ import annotations

from dataclasses import dataclass, field

MARK = "[maintenance.azure]"


class AwxError(ValueError):
    """What is wrong with the data set, in words for the person who wrote it."""


@dataclass(frozen=True)
class Kind:
    """One kind. Relations: option of the module -> kind of what it names."""

    name: str  # the module's name
    variable: str  # of the role
    endpoint: str  # of AWX
    aap: str  # variable of infra.aap_configuration
    relations: dict[str, str] = field(default_factory=dict)
    scope: tuple[str, ...] = ()  # what makes the name unique, besides the name
    described: bool = True  # whether it has a description, and so room for our mark
    removable: bool = True

    @property
    def words(self) -> str:
        """As people call it."""
        return {"workflow_job_template": "workflow"}.get(self.name, self.name.replace("_", " "))


NOTIFIED = ("notification_templates_started", "notification_templates_success", "notification_templates_error", "notification_templates_approvals")
NOTIFICATIONS = dict.fromkeys(NOTIFIED, "notification_template")
ORGANIZED = {"organization": "organization"}

# In the order in which they are made. What refers to another one comes after it.
KINDS = (
    Kind("organization", "awx_organization", "organizations", "aap_organizations"),
    Kind(
        "execution_environment",
        "awx_execution_environments",
        "execution_environments",
        "controller_execution_environments",
        {**ORGANIZED, "credential": "credential"},
    ),
    Kind("notification_template", "awx_notification_templates", "notification_templates", "controller_notifications", ORGANIZED, scope=("organization",)),
    Kind(
        "project",
        "awx_projects",
        "projects",
        "controller_projects",
        {**ORGANIZED, **NOTIFICATIONS, "credential": "credential", "default_environment": "execution_environment"},
        scope=("organization",),
    ),
    Kind(
        "inventory",
        "awx_inventories",
        "inventories",
        "controller_inventories",
        {**ORGANIZED, "instance_groups": "instance_group", "input_inventories": "inventory"},
        scope=("organization",),
    ),
    Kind(
        "inventory_source",
        "awx_inventory_sources",
        "inventory_sources",
        "controller_inventory_sources",
        {
            **ORGANIZED,
            **NOTIFICATIONS,
            "inventory": "inventory",
            "credential": "credential",
            "execution_environment": "execution_environment",
            "source_project": "project",
        },
        scope=("inventory",),
    ),
    Kind("label", "awx_labels", "labels", "controller_labels", ORGANIZED, scope=("organization",), described=False, removable=False),
    Kind(
        "job_template",
        "awx_job_templates",
        "job_templates",
        "controller_templates",
        {
            **ORGANIZED,
            **NOTIFICATIONS,
            "project": "project",
            "inventory": "inventory",
            "execution_environment": "execution_environment",
            "credentials": "credential",
            "labels": "label",
            "instance_groups": "instance_group",
        },
        scope=("organization",),
    ),
    Kind(
        "workflow_job_template",
        "awx_workflows",
        "workflow_job_templates",
        "controller_workflows",
        {**ORGANIZED, **NOTIFICATIONS, "inventory": "inventory", "labels": "label"},
        scope=("organization",),
    ),
    Kind(
        "schedule",
        "awx_schedules",
        "schedules",
        "controller_schedules",
        {"unified_job_template": "unified_job_template", "organization": "organization"},
        scope=("unified_job_template",),
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}
# What is only ever named: it exists already.
ENDPOINTS = {**{kind.name: kind.endpoint for kind in KINDS}, "credential": "credentials", "instance_group": "instance_groups"}
# What a schedule or a node may start.
STARTED = ("job_template", "workflow_job_template", "project", "inventory_source")
