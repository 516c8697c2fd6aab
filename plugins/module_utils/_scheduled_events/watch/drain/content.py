# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What role watch has written of the controller's policy and drain methods, in a file that only root can read."""

from __future__ import annotations

import os
import stat
import typing as t

from ...core.bounded_json import load_bounded
from ...core.types import Values
from ...drain.orders import MethodOrder, OrderError, drain_order
from ...drain.registry import is_safe_at_once
from ..settings import SETTINGS_BYTES, SettingsError
from .rules import Rule, RuleError, parse_rules

KEYS = ("rules", "methods", "elsewhere")


class DrainContent(t.NamedTuple):
    """The policy as a table, and the methods that drain this VM."""

    rules: t.Sequence[Rule]
    methods: t.Sequence[Values]
    """Those that run on the VM, as drain_order() takes them."""
    elsewhere: t.Sequence[str]
    """The ids of those that only a controller can run."""


def read_content(path: str) -> DrainContent:
    """Read the file. Raise SettingsError, also where another user than root could have changed or can read it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}. Role watch writes it.")
    with os.fdopen(descriptor, "rb") as stream:
        present = os.fstat(descriptor)
        if not stat.S_ISREG(present.st_mode) or present.st_uid not in (0, os.geteuid()) or present.st_mode & 0o077:
            raise SettingsError(f"{path} must be a file of root that no other user may read or write (mode 0600); run role watch again.")
        content = stream.read(SETTINGS_BYTES + 1)
    try:
        if len(content) > SETTINGS_BYTES:
            raise ValueError(f"it is larger than {SETTINGS_BYTES} bytes")
        return parse_content(load_bounded(content.decode("utf-8"), lambda digits: None))
    except (ValueError, RecursionError, OverflowError) as error:
        raise SettingsError(f"{path} is not usable: {error}. Run role watch again.")


def parse_content(data: t.Any) -> DrainContent:
    """Return the content of parsed JSON. Raise ValueError."""
    if not isinstance(data, dict) or sorted(data) != sorted(KEYS):
        raise ValueError(f"it must have the keys {', '.join(KEYS)}")
    if not isinstance(data["elsewhere"], list) or not all(isinstance(one, str) for one in data["elsewhere"]):
        raise ValueError("elsewhere must be a list of ids")
    try:
        methods: t.Sequence[MethodOrder] = drain_order({"methods": data["methods"], "at_once": True}).methods
        # By the settings, and not by the record, only what is outside.
        if wrong := [one.id for one in methods if not one.runs or one.by_record is one.outside or not is_safe_at_once(one.kind, one.outside)]:
            raise OrderError(f"{wrong[0]} does not run on the VM alone")
        return DrainContent(parse_rules(data["rules"]), data["methods"], data["elsewhere"])
    except (OrderError, RuleError) as error:
        raise ValueError(str(error))
