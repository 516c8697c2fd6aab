# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Names that version 2.0.0 has renamed. An old name is refused with the new one: if ignored, it would silently change a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._scheduled_events.core.types import Values

# Variables of roles.
VARIABLES = {
    "approve_claim": "approve_lease",
    "drain_claim": "drain_lease",
    "drain_mirror": "drain_keeper",
    "drain_mirror_path": "drain_keeper_path",
    "drain_mirror_vm_id": "drain_keeper_vm_id",
    "gate_marks": "gate_progress_marks",
    "gate_step_seconds": "gate_lease_seconds",
    "recover_claim": "recover_lease",
    "recover_mirror": "recover_keeper",
    "recover_mirror_path": "recover_keeper_path",
    "respond_look_seconds": "respond_observation_seconds",
    "upgrade_step_seconds": "upgrade_tasks_seconds",
}
# Keys of respond_timing, which are settings of the filters plan and gate.
SETTINGS = {"claim_seconds": "lease_seconds", "longest_wait": "longest_requeue", "tell": "notify"}
# Options of modules, and values of the option state.
OPTIONS = {"maintenance_record": {"claim": "lease", "mirror": "replica"}}
STATES = {"maintenance_record": {"claimed": "leased", "mirrored": "replicated"}}


def _refusal(what: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    shown = ", ".join(f"{old} is {new} now" for old, new in sorted(pairs))
    return f"{what} renamed by version 2.0.0 of the collection: {shown}. Use the new name" if shown else None


def refused_variables(names: Iterable[Any]) -> str | None:
    """Return why variables of these names are refused, or None."""
    return _refusal("variables", ((name, VARIABLES[name]) for name in set(map(str, names)) if name in VARIABLES))


def refused_settings(given: Any) -> str | None:
    """Return why respond_timing is refused, None if it has no key of an old name. A template, being text, has none here."""
    return _refusal("settings", ((name, SETTINGS[name]) for name in map(str, given) if name in SETTINGS)) if isinstance(given, Mapping) else None


def refused_options(module: str, options: Values) -> str | None:
    """Return why the options of a module are refused, or None."""
    pairs = [(name, new) for name, new in OPTIONS.get(module, {}).items() if name in options]
    state = str(options.get("state"))
    states = STATES.get(module, {})
    return _refusal(f"options of {module}", [*pairs, *([(f"state {state}", f"state {states[state]}")] if state in states else [])])
