# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What is wrong with the options of an observation.

The module asks before it opens anything, and the controller before it asks the VM at all, with the values as its variables have them.
"""

from __future__ import annotations

import typing as t

from ..core.argument_specs import DISCOVER, LONGEST_SECONDS, shared_arguments
from ..core.errors import ScheduledEventsError
from ..core.types import Values
from ..host.access import Failed
from ..host.files import LocalFiles
from ..host.health import KINDS, health_arguments, split_url
from ..imds.transport import split_endpoint

HIGHEST_PORT = 65535
# The words that Ansible takes for true and false.
TRUTHS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0", "1.0", "0.0"))
# Options whose text is checked by functions with errors that begin with the option's name.
NAMED = ("endpoint", "records_path")
# Options in the order in which a message names them.
OPTIONS = ("endpoint", "api_version", "records_path", "health", "vm_name", "boot_id")

Suggest = t.Callable[[str, t.Iterable[str]], str]


class Problem(t.NamedTuple):
    """What is wrong with an option. The text names no value of a health check: its URL may have a password."""

    option: str
    text: str
    begins_with_it: bool = False
    """Whether the text begins with the option's own name, as errors of other functions do."""

    def of(self, name: str) -> str:
        """Return the problem with the name that the option has for a reader."""
        return name + self.text[len(self.option) :] if self.begins_with_it else f"{name}: {self.text}"


def problems(
    options: Values,
    check_path: t.Callable[[str], t.Any] | None = LocalFiles.of_option,
    suggest: Suggest = lambda given, names: "",
) -> list[Problem]:
    """Return everything that is wrong. What is None is not set.

    C(check_path) raises ValueError for a records_path that the host cannot use; C(suggest) returns which of some names was probably meant.
    """
    checks: dict[str, t.Callable[[t.Any], list[str]]] = {
        "endpoint": _endpoint,
        "api_version": lambda value: _choice(value, shared_arguments()["api_version"]["choices"], suggest),
        "records_path": lambda value: _path(value, check_path),
        "health": lambda value: _health(value, suggest),
        "vm_name": _text,
        "boot_id": _text,
    }
    given = [(name, options[name]) for name in OPTIONS if options.get(name) is not None]
    return [Problem(name, text, name in NAMED and _is_text(value)) for name, value in given for text in checks[name](value)]


def refuse_wrong(options: Values) -> None:
    """Raise Failed where an option of a module is wrong. Its path is checked by what opens it: each system has paths of its own."""
    found = problems(options, check_path=None)
    if found:
        raise Failed(" ".join(one.of(one.option) for one in found), error_kind="bad_option")


def _text(value: t.Any) -> list[str]:
    return [] if _is_text(value) else [f"it must be text, and is {_kind_of(value)}."]


def _is_text(value: t.Any) -> bool:
    """Return whether a value is text, or a number, which YAML makes of some texts."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and "\0" not in str(value)


def _kind_of(value: t.Any) -> str:
    if isinstance(value, str):
        return "text with a null character"
    return {list: "a list", dict: "a dictionary", bool: "true or false"}.get(type(value), type(value).__name__)


def _endpoint(value: t.Any) -> list[str]:
    if not _is_text(value):
        return _text(value)
    try:
        if str(value).strip().lower() != DISCOVER:
            split_endpoint(str(value))
    except ScheduledEventsError as error:
        return [error.message]
    return []


def _choice(value: t.Any, choices: t.Sequence[str], suggest: Suggest) -> list[str]:
    if str(value) in choices:
        return []
    return [f"it must be one of {', '.join(choices)}, and is {str(value)[:100]!r}{suggest(str(value), choices)}."]


def _path(value: t.Any, check_path: t.Callable[[str], t.Any] | None) -> list[str]:
    if not _is_text(value):
        return _text(value)
    try:
        if check_path is not None:
            check_path(str(value))
    except ValueError as error:
        return [f"{str(error).rstrip('.')}."]
    return []


def _health(value: t.Any, suggest: Suggest) -> list[str]:
    health = value or {}
    if not isinstance(health, t.Mapping):
        return ["it must be a dictionary with one of port, url, file and service, such as {port: 80}."]
    keys = health_arguments()["options"]
    unknown = [key for key in map(str, health) if key not in keys]
    if unknown:
        return [f"there is no key {key[:100]}{suggest(key, keys)}. Keys: {', '.join(keys)}." for key in unknown]
    given = [kind for kind in KINDS if health.get(kind) is not None]
    if health and len(given) != 1:
        there = " and ".join(given) or "none of them"
        return [f"one of {', '.join(KINDS)} must be given, and there is {there}."]
    return [f"{key} must be {FORMS[key][1]}." for key in keys if health.get(key) is not None and not FORMS[key][0](health[key])]


def _is_port(value: t.Any) -> bool:
    return not isinstance(value, bool) and str(value).strip().isdigit() and 0 < int(str(value)) <= HIGHEST_PORT


def _is_url(value: t.Any) -> bool:
    try:
        split_url(str(value))
    except ValueError:
        return False
    return isinstance(value, str)


def _is_named(value: t.Any) -> bool:
    return _is_text(value) and bool(str(value).strip())


def _is_time(value: t.Any) -> bool:
    try:
        # In this order the comparison also refuses NaN.
        return not isinstance(value, bool) and 0 < float(value) <= LONGEST_SECONDS
    except (TypeError, ValueError):
        return False


def _is_truth(value: t.Any) -> bool:
    return isinstance(value, bool) or str(value).strip().lower() in TRUTHS


FORMS: dict[str, tuple[t.Callable[[t.Any], bool], str]] = {
    "port": (_is_port, f"a port, 1 to {HIGHEST_PORT}"),
    "url": (_is_url, "a URL that begins with http://HOST or https://HOST, with a port of 0 to 65535 if it has one"),
    "file": (_is_named, "the path of a file"),
    "service": (_is_named, "the name of a service"),
    "host": (_is_named, "a host's name or address"),
    "timeout": (_is_time, "a number of seconds, more than 0"),
    "validate_certs": (_is_truth, "true or false"),
}
