# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Keywords of a play, role or block around a role of this collection that its tasks cannot set themselves, and that would change what it does.

They are refused by name before anything is done. The others are set by the block that each entry of a role consists of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible.utils.helpers import pct_to_int

OWN = "maintenance.azure."
# Modules of core that the roles use. Their defaults would hide a report, end a wait, or keep facts beyond the run.
CORE = frozenset(f"{place}{name}" for place in ("ansible.builtin.", "ansible.legacy.") for name in ("assert", "debug", "fail", "set_fact", "wait_for"))
# With these each host goes on by itself, and a plan or a report would be made of observations that are not there yet.
FREE = frozenset(f"{place}{name}" for place in ("", "ansible.builtin.", "ansible.legacy.") for name in ("free", "host_pinned"))
NEEDS_LINEAR = (
    "it needs the strategy linear, with which the hosts of a play do each task together. This play has the strategy {} (in the play, or in the "
    "configuration of Ansible). Nothing was done"
)
# Options that have the same meaning in each module of the group scheduled_events.
SHARED = frozenset(("api_version", "connect_timeout", "endpoint", "request_timeout", "retries"))


def refused_around_all(task: Any, hosts: int) -> str | None:
    """Return why a task that all hosts of a play wait for refuses the strategy or the keywords around its role, or None."""
    # A task stands in a block, which knows its play.
    strategy = str(getattr(getattr(getattr(task, "_parent", None), "_play", None), "strategy", None) or "linear")
    return NEEDS_LINEAR.format(strategy) if strategy in FREE else refused(task, hosts)


def refused(task: Any, hosts: int = 0, asked_check_mode: Any = None) -> str | None:
    """Return why a task of a role refuses the keywords around the role, or None.

    C(hosts) is the number of hosts of the play where all of them must be in one batch, C(asked_check_mode) whether the run was started with --check where
    the role goes by that.
    """
    block = getattr(task, "_parent", None)
    found = [*_of_block(block), *_serial(getattr(block, "_play", None), hosts), *_module_defaults(task)]
    if isinstance(asked_check_mode, bool) and isinstance(task.check_mode, bool) and task.check_mode != asked_check_mode:
        found.append(f"check_mode is {str(task.check_mode).lower()}, other than --check says: start the run with --check, or without it, and remove check_mode")
    return f"keywords of the play, role or block: {'; '.join(found)}. Nothing was done" if found else None


def _of_block(block: Any) -> Iterator[str]:
    # A template may be true for one host only, so it is refused like true.
    # What the block inherits: of a task that runs, core has fixed the attributes of the block alone.
    inherited: Any = getattr(block, "_get_parent_attribute", {}.get)
    run_once, delegate_to = inherited("run_once"), inherited("delegate_to")
    if run_once is True or isinstance(run_once, str):
        yield "run_once is set, and only one VM would be served: remove run_once"
    if isinstance(delegate_to, str) and delegate_to:
        yield f"delegate_to is {delegate_to!r}, and that host would answer for each VM: remove delegate_to"


def _serial(play: Any, hosts: int) -> Iterator[str]:
    serial = getattr(play, "serial", None)
    if isinstance(serial, list) and serial and 0 < pct_to_int(serial[0], hosts) < hosts:
        yield f"serial is {', '.join(map(str, serial))}, and all VMs of an event must be in one batch: remove serial"


def _module_defaults(task: Any) -> Iterator[str]:
    given = getattr(task, "module_defaults", None)
    for name, options in [pair for one in given if isinstance(one, Mapping) for pair in one.items()] if isinstance(given, list) else ():
        changed = set(map(str, options)) if isinstance(options, Mapping) else {"a template"}
        if (str(name).removeprefix("group/").startswith(OWN) and changed - SHARED) or (name in CORE and changed):
            yield f"module_defaults sets {', '.join(sorted(changed))} of {name}, which tasks of the role use, too: set it in your own tasks"
