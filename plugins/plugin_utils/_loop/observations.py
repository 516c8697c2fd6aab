# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Collect the results of the hosts as observations for the planner. Every VM has one, and an old observation never counts as a new one."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.drain.registry import use_of_unit
from .._answers.answer import BAD_ANSWER
from .._core import plain_values
from .._settings.facts import why_refused
from . import answers as answers_module
from .vm_settings import VMSettings

# The keys that maintenance_act returns beside an observation.
NOT_OBSERVED = ("asked", "results", "vm_settings", "excluded", "refused")
NO_OBSERVATION = "it was not observed"

Observation = Data


class HostResults(NamedTuple):
    """The results that a host's tasks registered, and the state of the host itself."""

    observed: Any
    """The result of the last task that observed it."""
    acted: Any
    """The result of the last task that took actions without observing."""
    facts: Any
    expected_identity: Mapping[str, str]
    drained: Any = None
    """The result of role drain."""


def observation(host: str, found: HostResults, settings: VMSettings, before: Values, asked: Sequence[Values] = ()) -> Observation:
    """Return the observation of one host. C(before) is its last one in this run, C(asked) the actions that it has got since."""
    refused = why_refused(found.facts)
    if refused:
        # Neither its settings nor observations made with them count; its capacity groups are those of the inventory.
        return {**_base(host, before), "error": refused, "methods": [], "labels": {}, "outside": False, "refused": True}
    answers = answers_module.read_answers(asked, (found.observed, found.acted))
    approved, could_not_approve = answers_module.approvals(answers, before)
    state, error, observation = _result(found.observed, settings)
    return {
        **_base(host, before),
        "state": state,
        "error": error,
        "observation": observation,
        "unusable": state == "failed" and plain_values.mapping(found.observed).get("error_kind") == BAD_ANSWER,
        "methods": list(settings["methods"]),
        "labels": dict(settings["labels"]),
        "wrong_settings": list(settings["wrong"]),
        "outside": settings["outside"],
        "short_pause_hurts": settings["short_pause_hurts"],
        "targets": list(settings["targets"]),
        "expected_identity": dict(found.expected_identity),
        "listed_before": _listed(before),
        "could_not_approve": could_not_approve,
        "approved": approved,
        "acknowledged": answers_module.acknowledged(answers, before),
        "cannot_write": answers_module.cannot_write(answers, before),
    }


def _base(host: str, before: Values) -> Observation:
    """Return the observation of a host that did not answer."""
    return {
        "host": host,
        "state": "failed",
        "error": NO_OBSERVATION,
        "observation": None,
        "could_not_approve": [],
        "approved": [],
        "acknowledged": [],
        # The earlier observation of this run: a VM that no longer answers may come back, and its records still count.
        "reached_before": before.get("state") == "ok" or bool(before.get("reached_before")),
        "last_observation": before.get("observation") or before.get("last_observation"),
        "drains_asked": before.get("drains_asked") or 0,
        "drain_asked_at": before.get("drain_asked_at"),
    }


def _result(observed: Any, settings: VMSettings) -> tuple[str, str | None, Data | None]:
    """Return the state of an observation, its error, and the observation itself."""
    if settings["excluded"]:
        return "excluded", None, None
    if not isinstance(observed, Mapping):
        return "failed", NO_OBSERVATION, None
    if observed.get("unreachable") or observed.get("not_reached"):
        return "unreachable", plain_values.text(observed.get("msg")) or "no reason given", None
    if observed.get("failed") or "events" not in observed:
        return "failed", plain_values.text(observed.get("msg")) or NO_OBSERVATION, None
    found = {key: value for key, value in plain_values.plain(observed).items() if key not in NOT_OBSERVED}
    if found.get("services"):
        # What an option is for, which an entry has, needs no hint.
        present = [(entry.get("method"), name) for entry in map(plain_values.mapping, plain_values.items(settings["drain_methods"])) for name in entry]
        found["services"] = [unit for unit in plain_values.texts(found["services"]) if use_of_unit(unit) not in present]
    return "ok", None, found


def _listed(before: Values) -> list[Any] | None:
    """Return the events that its document listed in the previous observation of this run: documents that differ are read once more."""
    events = plain_values.mapping(before.get("observation")).get("events") if before.get("state") == "ok" else None
    return list(events) if isinstance(events, list) else None


def resting(before: Values) -> Observation:
    """Return the observation of a VM that no longer takes part: its identity and its records, without events that are listed now."""
    if before.get("state") != "ok":
        return dict(before)
    return {**before, "state": "resting", "observation": None, "last_observation": {**before["observation"], "events": []}, "reached_before": True}


def pack(found: Iterable[Observation], involved: Container[str]) -> str:
    """Return the observations of hosts that take no part, resting, as one text. The involved hosts are in it by name, so that the order is kept.

    The text lasts for the whole pass in the registered result of each iteration. Ansible visits every value of a result, which takes half a second
    for 500 observations, and one text takes nothing.
    """
    entries = [one["host"] if one["host"] in involved else resting(one) for one in found]
    return base64.b64encode(zlib.compress(json.dumps(entries).encode("ascii"))).decode("ascii")


def unpack(packed: str, found: Iterable[Observation]) -> list[Observation]:
    """Return the observations of all hosts in order: those that were packed, and these of the involved hosts."""
    of_host = {one["host"]: one for one in found}
    entries = json.loads(zlib.decompress(base64.b64decode(packed)))
    return [of_host[entry] if isinstance(entry, str) else entry for entry in entries]


def refused(found: Observation, error: str) -> Observation:
    """Return an observation as that of a host that was never read: what is in its records folder may be another host's."""
    return {**found, "state": "failed", "error": error, "observation": None, "last_observation": None, "reached_before": False}


def unless_old(found: Observation, before: Values) -> Observation:
    """Return an observation, as failed if it equals the last one of its host: then the host has left the play.

    Two observations differ at least in their time.
    """
    if found["state"] != "ok" or found["observation"] != (before.get("observation") or before.get("last_observation")):
        return found
    return {**found, "state": "failed", "error": NO_OBSERVATION, "observation": None}


def with_drains_asked(found: Observation, taken: Iterable[Values], now: float) -> Observation:
    """Return an observation with one more iteration in which its VM was asked to drain, if it was: by the controller's list, whatever the VM says of it."""
    asked = any(action["action"] == "drain" for action in taken)
    return {**found, "drains_asked": (found.get("drains_asked") or 0) + 1, "drain_asked_at": now} if asked else found
