# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A STAND-IN for what awx.awx.workflow_job_template does with nodes: it adds and changes, and takes nothing away unless told to make all anew."""

from __future__ import annotations

from ansible_collections.awx.awx.plugins.plugin_utils.options import NODE
from ansible_collections.awx.awx.plugins.plugin_utils.store import Refused

EDGES = ("always_nodes", "success_nodes", "failure_nodes")
ENDPOINT = "workflow_job_template_nodes"
NODE_DEFAULTS = {"unified_job_template": None, "extra_data": {}, "limit": None, "all_parents_must_converge": False}


def build(module, workflow):
    """Nodes first, edges then."""
    store, nodes = module.store, module.params.get("workflow_nodes") or []
    for node in nodes:
        # The real module does not check what is in a node. This one does, so that a wrong key is seen.
        _known(node, NODE, node.get("identifier"))
    if module.params.get("destroy_current_nodes"):
        for node in store.find(ENDPOINT, {"workflow_job_template": workflow["id"]}):
            module.write()
            store.delete(ENDPOINT, node)
    for node in nodes:
        _node(module, workflow, node)
    for node in nodes:
        _edges(module, workflow, node)


def _known(given, options, where):
    unknown = set(given) - set(options)
    if unknown:
        raise Refused("node %s: unknown %s" % (where, sorted(unknown)))
    for key, value in given.items():
        inner = options[key].get("options")
        for each in (value if isinstance(value, list) else [value]) if inner else []:
            _known(each, inner, where)


def _find(store, workflow, identifier):
    return next((each for each in store.all(ENDPOINT) if each["workflow_job_template"] == workflow["id"] and each["identifier"] == identifier), None)


def _node(module, workflow, node):
    store, started = module.store, node["unified_job_template"]
    fields = {"identifier": node["identifier"], "workflow_job_template": workflow["id"]}
    fields.update({key: node[key] for key in ("extra_data", "limit", "all_parents_must_converge") if node.get(key)})
    approval = started["type"] == "workflow_approval"
    if not approval:
        store.one("organizations", started["organization"]["name"])
        found = store.find("unified_job_templates", {"name": started["name"]})
        if not found:
            raise Refused("Unable to Find unified_job_template: {'type': '%s'}" % started["type"])
        fields["unified_job_template"] = found[0]["id"]
    item = _find(store, workflow, node["identifier"])
    if item is None:
        module.write()
        item = store.create(ENDPOINT, {**NODE_DEFAULTS, **dict.fromkeys(EDGES, []), **fields})
    elif any(item.get(field) != value for field, value in fields.items()):
        module.write()
        store.update(ENDPOINT, item, fields)
    if approval:
        _approval(module, item, started)


def _approval(module, item, started):
    store = module.store
    fields = {"name": started["name"], "timeout": started.get("timeout", 0)}
    present = store.by_id("workflow_approval_templates", item["unified_job_template"])
    if present is None:
        module.write()
        item["unified_job_template"] = store.create("workflow_approval_templates", fields)["id"]
        return
    # As a real AWX did: the module compares the node's identifier too, which no approval has, patches, and counts each time as a change.
    words = "The field identifier of workflow_approval_template %d has encrypted data and may inaccurately report task is changed."
    module.result.setdefault("warnings", []).append(words % present["id"])
    module.write()
    store.update("workflow_approval_templates", present, fields)


def _edges(module, workflow, node):
    store, item = module.store, _find(module.store, workflow, node["identifier"])
    for edge in EDGES:
        targets = [_find(store, workflow, target["identifier"]) for target in node.get("related", {}).get(edge, [])]
        if None in targets:
            raise Refused("Could not find %s entry with name %s" % (edge, node["related"][edge]))
        numbers = sorted(target["id"] for target in targets)
        # As there: an empty list leaves what is.
        if numbers and sorted(item[edge]) != numbers:
            module.write()
            item[edge] = numbers
