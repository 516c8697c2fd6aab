# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the nodes of a workflow from the data set's short form to that of awx.awx.workflow_job_template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .kinds import AwxError

EDGES = ("success", "failure", "always")
# What a node starts: key of the short form -> AWX's type.
STARTS = {"job_template": "job_template", "workflow": "workflow_job_template", "project": "project", "approval": "workflow_approval"}
KEYS = ("identifier", "timeout", "extra_data", "all_parents_must_converge", "limit", *EDGES, *STARTS)


def nodes(workflow: Mapping[str, Any], organization: str, full: Callable[[str, str], str]) -> list[dict[str, Any]]:
    """Return all nodes. Raise AwxError for an edge to an unknown node, and for a loop."""
    given = workflow.get("nodes") or []
    identifiers = [str(node.get("identifier")) for node in given]
    for node in given:
        _check(workflow, node, identifiers)
    _no_loop(workflow, {str(node["identifier"]): [str(to) for edge in EDGES for to in node.get(edge) or []] for node in given})
    return [_node(node, organization, full) for node in given]


def _check(workflow: Mapping[str, Any], node: Mapping[str, Any], identifiers: list[str]) -> None:
    where = f"node {node.get('identifier')} of workflow {workflow['name']}"
    if not node.get("identifier") or identifiers.count(str(node["identifier"])) > 1:
        raise AwxError(f"{where}: every node needs an identifier of its own")
    if len([start for start in STARTS if node.get(start)]) != 1 or set(node) - set(KEYS):
        raise AwxError(f"{where} must start one of {', '.join(STARTS)}, and may have {', '.join(KEYS)}; it is {node!r}")
    lost = [str(to) for edge in EDGES for to in node.get(edge) or [] if str(to) not in identifiers]
    if lost:
        raise AwxError(f"{where} leads to {', '.join(lost)}, and there is no such node")


def _no_loop(workflow: Mapping[str, Any], edges: dict[str, list[str]]) -> None:
    left = dict(edges)
    while left:
        free = [name for name in left if not any(name in targets for targets in left.values())]
        if not free:
            raise AwxError(f"the nodes of workflow {workflow['name']} lead in a circle: {', '.join(left)}")
        for name in free:
            del left[name]


def _node(node: Mapping[str, Any], organization: str, full: Callable[[str, str], str]) -> dict[str, Any]:
    start = next(key for key in STARTS if node.get(key))
    started: dict[str, Any] = {"type": STARTS[start], "name": str(node[start])}
    if start == "approval":
        started["timeout"] = int(node.get("timeout") or 0)
    else:
        started["name"] = full("workflow_job_template" if start == "workflow" else start, str(node[start]))
        started["organization"] = {"name": organization}
    made: dict[str, Any] = {
        "identifier": str(node["identifier"]),
        "unified_job_template": started,
        "related": {f"{edge}_nodes": [{"identifier": str(to)} for to in node.get(edge) or []] for edge in EDGES},
    }
    made.update({key: node[key] for key in ("extra_data", "all_parents_must_converge", "limit") if node.get(key)})
    return made
