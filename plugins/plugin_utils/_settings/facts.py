# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Find settings in a VM's facts. Facts of a module, those of gather_facts included, take precedence over group_vars and host_vars.

Only the inventory, group_vars and the command line may set what these names mean.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._scheduled_events.core.types import Values
from .._answers.kinds import printable
from .._core.argument_specs import entry_points
from .renamed import VARIABLES

SHOWN = 5
ROLES = ("respond", "observe", "drain", "approve", "recover", "gate", "upgrade")
# Variables that the roles keep while they run, and results that they leave for the play.
INTERNAL = re.compile(f"__({'|'.join(ROLES)})_")
RESULTS = frozenset(
    (
        "approve_result",
        "drain_result",
        "drain_tasks_state",
        "drain_undo_result",
        "gate_asked",
        "gate_ended",
        "gate_own_restarts",
        "gate_result",
        "gate_skipped",
        "method_answer",
        "method_result",
        "observe_result",
        "recover_result",
        "respond_plan",
        "upgrade_found",
        "upgrade_plan",
        "upgrade_until",
    )
)
# Variables of Ansible and AWX: a fact of such a name would change a VM's or the operator's identity.
OTHERS = frozenset(
    ("inventory_hostname", "inventory_hostname_short", "group_names", "playbook_dir", "awx_job_id", "awx_user_name", "tower_user_name", "decide_vm")
)
# Functions of templates: a variable of such a name hides the function.
FUNCTIONS = frozenset(("cycler", "dict", "joiner", "lipsum", "lookup", "namespace", "now", "omit", "q", "query", "range", "undef"))


@functools.lru_cache(maxsize=1)
def setting_names() -> frozenset[str]:
    """Return every option of the roles that act on VMs."""
    return options(ROLES)


def options(roles: Iterable[str]) -> frozenset[str]:
    """Return every option of some roles of this collection, from their argument_specs."""
    return frozenset(str(name) for role in roles for entry in entry_points(role).values() for name in entry.get("options") or {})


def is_setting(name: str) -> bool:
    """Return whether a fact of this name is refused."""
    if name in setting_names() or name in VARIABLES or name in RESULTS or name in OTHERS or name in FUNCTIONS:
        return True
    return name.startswith("__") and INTERNAL.match(name) is not None


def why_refused_extra(names: Iterable[Any]) -> str | None:
    """Return why extra variables of these names are refused, or None. They override what a task registers, and so what a VM has answered."""
    found = sorted(name for name in map(str, names) if INTERNAL.match(name) or name in RESULTS or name in FUNCTIONS)
    return f"the extra variables {', '.join(found)} have names that roles or templates use themselves. Leave them out. Nothing was done" if found else None


def settings_in(facts: Any) -> list[str]:
    """Return the names of settings in a host's facts. Core strips ansible_ from facts, so ansible_respond_policy is found as well."""
    if not isinstance(facts, Mapping):
        return []
    return sorted(name for name in map(str, facts) if is_setting(name))


def why_refused(facts: Any) -> str | None:
    """Return why a VM whose facts contain settings is refused, and what to do; None if they contain none."""
    names = [printable(name, 60) for name in settings_in(facts)]
    if not names:
        return None
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} others" if len(names) > SHOWN else "")
    return (
        f"the setting {shown} comes from its facts (gather_facts, a module, set_fact with cacheable, or a fact cache); settings come from the inventory, "
        "group_vars, host_vars or extra variables. Remove it from what makes these facts on the VM, and from the fact cache, and find out who put it there"
    )


def refused_hosts(hosts: Any, hostvars: Values) -> dict[str, str]:
    """Return the hosts whose facts contain settings, each with the reason."""
    return {name: why for name in map(str, hosts) if name in hostvars and (why := why_refused(hostvars[name].get("ansible_facts")))}
