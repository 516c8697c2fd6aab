# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Compare AWX with what is wanted. The modules of awx.awx return no diff, so this is the diff that is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from ...module_utils._scheduled_events.core.types import Data, Values
from .hiding import ENCRYPTED
from .kinds import BY_NAME

# Options that control how a module works; AWX does not store them.
MEANS = ("state", "new_name", "copy_from", "wait", "update_project", "interval", "destroy_current_nodes")
TEXTS = ("extra_vars", "variables", "source_vars")
# Relations that the module uses to find an object; AWX does not store them under this name.
SOUGHT = {"schedule": ("organization",), "inventory_source": ("organization",)}
KEYS = ("variable", "identifier")


def differences(kind: str, wanted: Values, item: Values) -> list[Data]:
    """Return each difference with what, before and after. Skip options that AWX does not show."""
    found: list[Data] = []
    for option, value in wanted.items():
        if option in MEANS or option in SOUGHT.get(kind, ()):
            continue
        known, present = _present(kind, option, item)
        if known:
            found += _compare(option, present, _as_kept(kind, option, value), strict=option in TEXTS)
    return found


def _present(kind: str, option: str, item: Values) -> tuple[bool, Any]:
    """Return whether AWX shows the option, and its value."""
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
    """Parse variables, which AWX keeps as text in JSON or YAML."""
    if not isinstance(text, str):
        return text or {}
    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError:
        return text


def graph(nodes: Sequence[Values]) -> Data:
    """Return the nodes of a workflow in AWX, by identifier."""
    names = {node["id"]: str(node["identifier"]) for node in nodes}
    shown: Data = {}
    for node in nodes:
        started = (node.get("summary_fields") or {}).get("unified_job_template") or {}
        one: Data = {"starts": started.get("name")}
        for edge in ("success", "failure", "always"):
            one[edge] = sorted(names.get(target, str(target)) for target in node.get(f"{edge}_nodes") or [])
        if "timeout" in started:
            one["timeout"] = started["timeout"]
        shown[str(node["identifier"])] = {**one, **_node_fields(node)}
    return shown


def _node_fields(node: Values) -> Data:
    converge = bool(node.get("all_parents_must_converge"))
    return {"extra_data": node.get("extra_data") or {}, "limit": node.get("limit") or "", "all_parents_must_converge": converge}


def _wanted_graph(nodes: Sequence[Values]) -> Data:
    shown = {}
    for node in nodes:
        one: Data = {"starts": node["unified_job_template"]["name"], **_node_fields(node)}
        for edge in ("success", "failure", "always"):
            one[edge] = sorted(target["identifier"] for target in node["related"][f"{edge}_nodes"])
        if "timeout" in node["unified_job_template"]:
            one["timeout"] = node["unified_job_template"]["timeout"]
        shown[node["identifier"]] = one
    return shown


def superfluous(wanted: Sequence[Values], item: Values) -> bool:
    """Return whether a workflow has nodes, edges or values to remove. The module only adds, and sends no empty value, unless it recreates all nodes."""
    present, after = graph((item.get("more") or {}).get("workflow_nodes") or []), _wanted_graph(wanted)
    for name, node in present.items():
        if name not in after or node["starts"] != after[name]["starts"]:
            return True
        if any(set(node[edge]) - set(after[name][edge]) for edge in ("success", "failure", "always")):
            return True
        if any(node.get(key) and not after[name][key] for key in ("timeout", "extra_data", "limit", "all_parents_must_converge") if key in after[name]):
            return True
    return False


def _compare(what: str, before: Any, after: Any, strict: bool = False) -> list[Data]:
    """Return the differing values only, so that one changed word does not print a whole survey. strict: an empty value and a missing one differ."""
    empty = before in (None, "", [], {}) and after in (None, "", [], {})
    if empty and (not strict or before == after):
        return []
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return list(_inside(what, before, after, strict))
    before_by, after_by = _keyed(before), _keyed(after)
    if before_by is not None and after_by is not None and (before_by or after_by):
        found = list(_inside(what, before_by, after_by, strict))
        if not found and list(before_by) != list(after_by):
            return [{"what": f"{what} (order)", "before": list(before_by), "after": list(after_by)}]
        return found
    if before in (ENCRYPTED, after):
        return []
    return [{"what": what, "before": before, "after": after}]


def _inside(what: str, before: Values, after: Values, strict: bool) -> Iterator[Data]:
    for key in [*before, *(key for key in after if key not in before)]:
        # Keys that AWX adds to a notification's configuration are not a difference.
        if what == "notification_configuration" and key not in after:
            continue
        # Only some versions show a timeout, and only for some nodes.
        if key == "timeout" and what.startswith("workflow_nodes") and (key not in before or key not in after):
            continue
        if strict and (key in before) != (key in after):
            yield {"what": f"{what}.{key}", "before": _said(before, key), "after": _said(after, key)}
        else:
            yield from _compare(f"{what}.{key}", before.get(key), after.get(key), strict)


def _said(values: Values, key: str) -> Any:
    """Return the value, or None where there is none; null is told apart from that."""
    return "null" if key in values and values[key] is None else values.get(key)


def _keyed(value: Any) -> Data | None:
    """Return a list of questions or nodes as a dictionary by name, or None for any other value."""
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, Mapping) for each in value):
        for key in KEYS:
            if all(key in each for each in value):
                return {str(each[key]): {name: inner for name, inner in each.items() if name != key} for each in value}
    return None
