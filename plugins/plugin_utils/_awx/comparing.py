# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what AWX differs from what is wanted. The modules of awx.awx return no diff, so this is what people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.hiding import ENCRYPTED
from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.kinds import BY_NAME

# Options that say how, and not what.
MEANS = ("state", "new_name", "copy_from", "wait", "update_project", "interval", "destroy_current_nodes")
TEXTS = ("extra_vars", "variables", "source_vars")
# Relations that the module looks for and AWX does not keep under this name.
SOUGHT = {"schedule": ("organization",), "inventory_source": ("organization",)}
KEYS = ("variable", "identifier")


def differences(kind: str, wanted: Mapping[str, Any], item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each with what, before and after. Options that AWX does not show are not compared."""
    found: list[dict[str, Any]] = []
    for option, value in wanted.items():
        if option in MEANS or option in SOUGHT.get(kind, ()):
            continue
        known, present = _present(kind, option, item)
        if known:
            found += _compare(option, present, _as_kept(kind, option, value))
    return found


def _present(kind: str, option: str, item: Mapping[str, Any]) -> tuple[bool, Any]:
    """Whether AWX shows it, and what."""
    more, summary = item.get("more") or {}, item.get("summary_fields") or {}
    if option == "workflow_nodes":
        return True, graph(more.get(option) or [])
    if option in more:
        return True, _sorted(more[option])
    if option in TEXTS:
        return option in item, _parsed(item.get(option))
    if option in BY_NAME[kind].relations:
        related = summary.get(option)
        if isinstance(related, Mapping) and "results" in related:
            related = related["results"]
        if isinstance(related, Mapping):
            return True, related.get("name")
        if isinstance(related, Sequence):
            return True, sorted(str(each["name"]) for each in related)
        return True, None
    return option in item, item.get(option)


def _as_kept(kind: str, option: str, value: Any) -> Any:
    if option == "workflow_nodes":
        return _wanted_graph(value)
    if option == "scm_type" and value == "manual":
        return ""
    return _sorted(value) if option in BY_NAME[kind].relations else value


def _sorted(value: Any) -> Any:
    texts = isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, str) for each in value)
    return sorted(value) if texts else value


def _parsed(text: Any) -> Any:
    """AWX keeps variables as text, in JSON or YAML."""
    if not isinstance(text, str):
        return text or {}
    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError:
        return text


def graph(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The nodes of a workflow as AWX has them, by identifier."""
    names = {node["id"]: str(node["identifier"]) for node in nodes}
    shown: dict[str, Any] = {}
    for node in nodes:
        started = (node.get("summary_fields") or {}).get("unified_job_template") or {}
        one: dict[str, Any] = {"starts": started.get("name")}
        for edge in ("success", "failure", "always"):
            one[edge] = sorted(names.get(target, str(target)) for target in node.get(f"{edge}_nodes") or [])
        if "timeout" in started:
            one["timeout"] = started["timeout"]
        one["extra_data"] = node.get("extra_data") or {}
        shown[str(node["identifier"])] = one
    return shown


def _wanted_graph(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    shown = {}
    for node in nodes:
        one: dict[str, Any] = {"starts": node["unified_job_template"]["name"], "extra_data": node.get("extra_data") or {}}
        for edge in ("success", "failure", "always"):
            one[edge] = sorted(target["identifier"] for target in node["related"][f"{edge}_nodes"])
        if "timeout" in node["unified_job_template"]:
            one["timeout"] = node["unified_job_template"]["timeout"]
        shown[node["identifier"]] = one
    return shown


def superfluous(wanted: Sequence[Mapping[str, Any]], item: Mapping[str, Any]) -> bool:
    """Whether a workflow has nodes or edges too many. The module only adds, unless it makes all nodes anew."""
    present, after = graph((item.get("more") or {}).get("workflow_nodes") or []), _wanted_graph(wanted)
    for name, node in present.items():
        if name not in after or node["starts"] != after[name]["starts"]:
            return True
        if any(set(node[edge]) - set(after[name][edge]) for edge in ("success", "failure", "always")):
            return True
    return False


def _compare(what: str, before: Any, after: Any) -> list[dict[str, Any]]:
    """Down to the values that differ, so that a survey is not shown as a whole for one word."""
    if before in (None, "", [], {}) and after in (None, "", [], {}):
        return []
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return list(_inside(what, before, after))
    before_by, after_by = _keyed(before), _keyed(after)
    if before_by is not None and after_by is not None and (before_by or after_by):
        found = list(_inside(what, before_by, after_by))
        if not found and list(before_by) != list(after_by):
            return [{"what": f"{what} (order)", "before": list(before_by), "after": list(after_by)}]
        return found
    if before in (ENCRYPTED, after):
        return []
    return [{"what": what, "before": before, "after": after}]


def _inside(what: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in [*before, *(key for key in after if key not in before)]:
        # What AWX adds to a notification's configuration by itself is no difference.
        if what == "notification_configuration" and key not in after:
            continue
        # A timeout is shown for some nodes and by some versions only.
        if key == "timeout" and what.startswith("workflow_nodes") and (key not in before or key not in after):
            continue
        yield from _compare(f"{what}.{key}", before.get(key), after.get(key))


def _keyed(value: Any) -> dict[str, Any] | None:
    """A list of questions or nodes by their names."""
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, Mapping) for each in value):
        for key in KEYS:
            if all(key in each for each in value):
                return {str(each[key]): {name: inner for name, inner in each.items() if name != key} for each in value}
    return None
