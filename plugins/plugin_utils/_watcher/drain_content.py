# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the watcher of a VM needs to drain it by itself: the content of a file that only root can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from .._drain.orders.method_orders import MethodOrder, drain_orders
from .._drain.settings import validation
from .policy_rules import Row, compile_rules

# The watcher drains on Linux only.
SYSTEM = "linux"


class Content(TypedDict):
    """The content of the file."""

    rules: list[Row]
    methods: list[MethodOrder]
    """What the VM does by itself, in order."""
    elsewhere: list[str]
    """The ids of the methods that are left to the controller."""


class Settings(TypedDict):
    """The settings of a VM."""

    policy: Any
    methods: Any
    former: Any
    host: str
    folders: Sequence[str]
    """Where the methods that are tasks are, as validation.problems() takes them: the role's, then an operator's."""
    places: Sequence[str]
    """Where task files are looked for."""


def drain_content(settings: Settings) -> Content:
    """Return the content. It has no rules where no method runs on the VM: then the policy may be one that only the controller can check.

    Raise ValueError for wrong settings, with everything that is wrong with the drain methods, or PolicyError.
    """
    folders, methods, former = settings["folders"], settings["methods"], settings["former"]
    own_folder = folders[1] if len(folders) > 1 else ""
    if wrong := validation.problems(methods, former, SYSTEM, folders, settings["places"], own_folder):
        raise ValueError(" ".join(wrong))
    orders = drain_orders({}, methods, former, settings["host"], SYSTEM)
    own = [order for order in orders if _is_own(order)]
    elsewhere = [order["id"] for order in orders if not _is_own(order)]
    return {"rules": compile_rules(settings["policy"]) if own else [], "methods": own, "elsewhere": elsewhere}


def _is_own(order: MethodOrder) -> bool:
    """Return whether a method runs on the VM itself, and changes nothing outside it."""
    return order["where"] == "own" and order["runs"] and not order["outside"]
