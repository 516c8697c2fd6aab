# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Plan the changes from the wanted objects and what AWX has of them. The only place that decides which objects this role owns.

The role owns an object whose description ends with its mark. A label has no description; AWX removes a label once nothing uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._scheduled_events.core.types import Data, Values
from .._core.wrong_input import WrongInput
from .comparing import differences, superfluous
from .hiding import hide, hide_difference
from .kinds import BY_NAME, KINDS, MARK, STARTED
from .syncs import usable

SINGULAR = {kind.endpoint: kind.label for kind in KINDS}


def plan(objects: Sequence[Values], found: Sequence[Values], state: str = "present", adopt: bool = False, denied: Sequence[str] = ()) -> Data:
    """Return changes (one for each object of ours, in order), wrong (why none of them may be made), busy (why they have to wait), and lines.

    denied: kinds that the user may not create. Nothing of the result contains secrets.
    """
    if state not in ("present", "absent"):
        raise WrongInput(f"state is present or absent, not {state!r}")
    objects = [hide(one) for one in objects]
    pairs = [(one, item) for one, item in zip(objects, found, strict=True) if one["made"]]
    changes = _removals(pairs) if state == "absent" else [_presence(one, item, adopt) for one, item in pairs]
    wrong = [] if state == "absent" else [problem for one, item in zip(objects, found, strict=True) for problem in _missing(one, item)]
    wrong += [f"{change['words']}: {change['why']}" for change in changes if change["action"] == "foreign"]
    wrong += _not_allowed(changes, {(str(one["kind"]), str(one["name"])): item for one, item in pairs}, denied)
    busy = [f"job {job} of {change['words']} runs" for change in changes if change["action"] == "remove" for job in change["jobs"]]
    return {"changes": changes, "wrong": wrong, "busy": busy, "lines": [line for change in changes for line in _lines(change)]}


def with_ids(arguments: Values, inventories: Sequence[Values]) -> Data:
    """Return a template's arguments with the id of its inventory: by name the modules look in all organizations, and refuse two of one name."""
    ids = {item["name"]: str(item["id"]) for item in inventories if item}
    return {key: ids.get(value, value) if key == "inventory" else value for key, value in arguments.items()}


def _not_allowed(changes: Sequence[Values], items: Mapping[tuple[str, str], Values], denied: Sequence[str]) -> list[str]:
    """Return what the user may not do, as far as AWX tells."""
    refused: dict[str, list[str]] = {}
    for change in changes:
        may = (items[change["kind"], change["name"]].get("summary_fields") or {}).get("user_capabilities") or {}
        if change["action"] == "make" and change["kind"] in denied:
            refused.setdefault("create", []).append(change["words"])
        elif change["action"] == "change" and not may.get("edit", True):
            refused.setdefault("change", []).append(change["words"])
        elif change["action"] == "sync" and not may.get("start", True):
            refused.setdefault("synchronize", []).append(change["words"])
        elif change["action"] == "remove" and not may.get("delete", True):
            refused.setdefault("remove", []).append(change["words"])
    return [f"this user may not {what} {', '.join(words)}" for what, words in refused.items()]


def _missing(one: Values, item: Values) -> list[str]:
    """Report a missing object that is only referred to and not created here."""
    if one["made"] or item:
        return []
    place = f" ({one['named_in']})" if one.get("named_in") else ""
    return [f"{_label(one)}{place} is not there, or this user may not see it; it is named and not made here"]


def _label(one: Values) -> str:
    kind = str(one["kind"])
    return f"{BY_NAME[kind].label if kind in BY_NAME else kind.replace('_', ' ')} {one['name']}"


def _ours(one: Values, item: Values) -> bool:
    return not BY_NAME[str(one["kind"])].described or str(item.get("description") or "").rstrip().endswith(MARK)


def _change(one: Values, action: str, why: str = "", differing: Sequence[Values] = ()) -> Data:
    return {
        "kind": one["kind"],
        "name": one["name"],
        "words": _label(one),
        "action": action,
        "why": why,
        "differences": list(differing),
        "arguments": dict(one["arguments"]),
        "jobs": [],
        "goes_with": "",
    }


def _presence(one: Values, item: Values, adopt: bool) -> Data:
    if not item:
        return _change(one, "make")
    if not _ours(one, item) and not adopt:
        why = f"is there and was not made by this role ({MARK} is not in its description): say made: false to use it as it is, "
        return _change(one, "foreign", why + "awx_adopt: true to take it over, or awx_prefix for names of your own")
    wanted = dict(one["arguments"])
    if one["kind"] == "execution_environment":
        wanted.setdefault("pull", "missing")
    differing = [hide_difference(each) for each in differences(str(one["kind"]), wanted, item)]
    change = _change(one, "change" if differing else "same", differing=differing)
    if one["kind"] == "project" and not differing and not usable(item):
        change.update(action="sync", why=f"its last sync is {item['status']}")
    if "workflow_nodes" in wanted:
        _nodes(change, item)
    return change


def _nodes(change: Data, item: Values) -> None:
    """Leave nodes out that are as wanted: the module sends an approval each time, and each time counts it as a change."""
    arguments = change["arguments"]
    if superfluous(arguments["workflow_nodes"], item):
        arguments["destroy_current_nodes"] = True
    elif not any(str(each["what"]).startswith("workflow_nodes") for each in change["differences"]):
        del arguments["workflow_nodes"]


def _removals(pairs: Sequence[tuple[Values, Values]]) -> list[Data]:
    """Return the removals in reverse order of creation. Keep an object that others use, and whatever a kept object uses.

    A schedule whose template is removed goes with it, and not before: a template that AWX does not remove then still has its schedule.
    """
    gone: set[tuple[str, Any]] = set()
    changes = []
    for kind in reversed(KINDS):
        for one, item in reversed([pair for pair in pairs if pair[0]["kind"] == kind.name]):
            change = _removal(one, item, gone)
            if change["action"] == "remove":
                gone.add((kind.endpoint, item["id"]))
            changes.append(change)
    templates = {change["name"]: change["words"] for change in changes if change["kind"] in STARTED and change["action"] == "remove"}
    for change in changes:
        change["goes_with"] = templates.get(change["arguments"].get("unified_job_template"), "")
    return changes


def _removal(one: Values, item: Values, gone: set[tuple[str, Any]]) -> Data:
    if not item or not BY_NAME[str(one["kind"])].removable:
        return _change(one, "same")
    if not _ours(one, item):
        return _change(one, "keep", "was not made by this role")
    using = [user for user in item.get("users") or [] if (user["endpoint"], user["id"]) not in gone]
    users = sorted({f"{SINGULAR.get(user['endpoint'], user['endpoint'].removesuffix('s'))} {user['name']}" for user in using})
    if users:
        return _change(one, "keep", f"is used by {', '.join(users)}")
    return {**_change(one, "remove"), "jobs": list(item.get("jobs") or [])}


def _lines(change: Values) -> list[str]:
    """Return the lines to print for a change; none if the object is already as wanted."""
    if change["action"] == "same":
        return []
    if change["action"] in ("keep", "foreign", "sync"):
        return [f"{change['action']} {change['words']}: {change['why']}"]
    details = [f"  {each['what']}: {_short(each['before'])} -> {_short(each['after'])}" for each in change["differences"]]
    return [f"{change['action']} {change['words']}", *details]


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
