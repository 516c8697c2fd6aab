# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Check what a VM answers before a play sees it: documented keys of documented types, or a failure that says what is wrong.

A compromised interpreter could print anything: facts that would become variables, warnings that look like Ansible's own, a result
that reports the VM as unreachable. All of that is stopped here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils._scheduled_events.core.types import Data
from . import limits
from .kinds import Kind, Unusable, fields, name_of_type, printable
from .schemas import COMMON, DIFF, JOB, NO_ANSWER, SCHEMAS, Schema

Answer = Data
BAD_ANSWER = "bad_answer"
# Keys that core prints by itself, whatever becomes of the result.
ASIDES = ("warnings", "deprecations", "exception")


def refuse(module: str, host: str, why: str) -> Answer:
    """Return the failure that replaces an unusable answer."""
    message = f"{host}: what {module} returned is not usable: {why}"
    return {"changed": False, "failed": True, "msg": printable(message, limits.LINE), "error_kind": BAD_ANSWER}


def read_answer(module: str, host: str, value: Any, job: bool = False) -> Answer:
    """Return any value as an answer of this module, run on this host. ``job``: the module was only started, with async."""
    try:
        return _read(SCHEMAS[module], host, value, job)
    except Unusable as error:
        return refuse(module, host, str(error))
    except (RecursionError, ValueError, OverflowError) as error:
        # Python's own limits.
        return refuse(module, host, f"it cannot be read ({type(error).__name__})")


def _read(schema: Schema, host: str, value: Any, job: bool) -> Answer:
    if not isinstance(value, Mapping):
        raise Unusable("", f"is {name_of_type(value)}, not a dictionary")
    failed = "failed" in value and COMMON["failed"](value["failed"], "failed")
    known: dict[str, Kind] = {**COMMON, **schema.returns}
    if schema.diff:
        known["diff"] = DIFF
    if failed:
        known.update(NO_ANSWER)
    elif job:
        known.update(JOB)
    found: Answer = fields(known, () if failed or job else ("changed", *schema.needed))(value, "")
    warnings = _warnings(value.get("warnings"), host)
    return dict(found, warnings=warnings) if warnings else found


def _warnings(given: Any, host: str) -> list[str]:
    """Return the module's warnings as texts of that VM: a limited number, shortened, one line each. Skip values that are not text."""
    texts = [found for found in map(_warning, given if isinstance(given, (list, tuple)) else ()) if found]
    began = host + ": "
    lines = [one if one.startswith(began) else began + one for one in texts[: limits.WARNINGS]]
    return [printable(one, limits.WARNING) for one in lines]


def _warning(given: Any) -> str | None:
    """Return the text of one warning; ansible-core 2.19 and later wrap it in an object."""
    if isinstance(given, Mapping):
        event = given.get("event")
        given = event.get("msg") if isinstance(event, Mapping) else None
    elif given is not None and not isinstance(given, str):
        given = getattr(getattr(given, "event", None), "msg", None)
    return printable(given, limits.WARNING).strip() if isinstance(given, str) else None


def read_output(module: str, host: str, printed: str, job: bool = False) -> str | None:
    """Return the printed output reduced to a checked answer, as JSON. None if it is not a JSON object: core reports that."""
    return _reduced(module, host, printed, _constant, lambda value: read_answer(module, host, value, job))


def read_foreign_output(module: str, host: str, printed: str) -> str | None:
    """Do the same for a module of another collection, whose result stays in this collection: remove only the keys that core would act on."""
    # The body of a response may contain anything, NaN included; its reader checks it.
    return _reduced(
        module, host, printed, float, lambda value: {name: item for name, item in value.items() if name not in ASIDES and not name.startswith("_ansible_")}
    )


def _reduced(module: str, host: str, printed: str, constant: Callable[[str], Any], read: Callable[[Answer], Answer]) -> str | None:
    try:
        _check_size(printed)
        value = _load(printed, constant)
        return None if value is None else json.dumps(read(value))
    except (RecursionError, Unusable) as error:
        return json.dumps(refuse(module, host, str(error)))


def _check_size(printed: str) -> None:
    """Refuse an output that is too large to be parsed. Each value but the first of a container has a comma before it."""
    if len(printed) > limits.BYTES:
        raise Unusable("it", f"has {len(printed)} characters, more than {limits.BYTES}")
    if sum(map(printed.count, ",[{")) > limits.VALUES:
        raise Unusable("it", f"has more than {limits.VALUES} values")


def _constant(name: str) -> Any:
    raise Unusable("a number in it", f"is {name}")


def _load(printed: str, constant: Callable[[str], Any]) -> Data | None:
    """Return the JSON object in an output, located as core does: from the first line that begins one to the last that ends one."""
    lines = printed.splitlines()
    begin = next((place for place, one in enumerate(lines) if one.strip().startswith("{")), None)
    end = next((place for place in range(len(lines) - 1, -1, -1) if lines[place].strip().endswith("}")), None)
    if begin is None or end is None or end < begin:
        return None
    try:
        value = json.loads("\n".join(lines[begin : end + 1]), parse_int=_whole, parse_constant=constant)
    except Unusable:
        raise
    except RecursionError:
        raise Unusable("", f"is nested deeper than {limits.DEPTH} levels") from None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _whole(digits: str) -> int:
    if len(digits) > limits.DIGITS + 1:
        raise Unusable("a number in it", f"has more than {limits.DIGITS} digits")
    return int(digits)
