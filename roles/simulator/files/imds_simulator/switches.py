# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Switches for behaviour that is undocumented, or that a rehearsal may want to change, with their defaults."""

from __future__ import annotations

from typing import Any, Dict, Tuple

NEWEST_VERSIONS = ["2025-04-07", "2024-07-17", "2024-03-15"]

# name: (default, allowed values or types, what it does)
SWITCHES: Dict[str, Tuple[Any, Any, str]] = {
    "approve_body": ("empty", ("empty", "object", "document"), "body of a 200 to POST"),
    "unknown_event_status": (400, int, "status of a POST that names an unknown EventId"),
    "approve_known_of_mixed": (False, bool, "approve the known ids of a POST that also names an unknown one"),
    "malformed_text": ("Bad request. The request body is malformed", str, "error text of a malformed POST"),
    "etag": (True, bool, "send an ETag and answer If-None-Match with 304"),
    "etag_on_post": (False, bool, "a POST whose If-None-Match names the present ETag is answered 412"),
    "newest_versions": (NEWEST_VERSIONS, list, "list in the answer to a wrong api-version"),
    "forwarded_status": (400, int, "status of a request with X-Forwarded-For"),
    "duplicate_status": (400, int, "status of a request with a query parameter given twice"),
    "retry_after": (0, (int, float), "seconds in Retry-After of a 429; 0 sends none"),
    "rate_limit": (5, (int, float), "requests in one real second for each VM; 0 is no limit"),
    "instance_versions_accepted": (False, bool, "api-versions of instance metadata work on scheduledevents too"),
    "path_case": ("any", ("any", "lower"), "which letter case of the path is accepted"),
    "approval_changes_incarnation": (False, bool, "an approval alone raises DocumentIncarnation"),
    "incarnation_scope": ("group", ("group", "vm", "all"), "who shares one DocumentIncarnation"),
    "incarnation_form": ("number", ("number", "text"), "JSON type of DocumentIncarnation"),
    "first_incarnation": (1, int, "DocumentIncarnation when the feature is enabled"),
    "empty_body_status": (200, int, "status of the answer with an empty body (fault empty_body)"),
    "while_disabled": ("no_notice", ("no_notice", "notice"), "an operation planned while the feature is disabled"),
    "first_call_delay": (0, (int, float), "seconds that the first GET blocks (Azure: up to 120)"),
    "enabling_delay": (0, (int, float), "seconds after enabling before events are shown (Azure: up to 300)"),
    "disable_after": (86400, (int, float), "seconds of silence that disable the feature; 0 is never"),
    "start_delay": (5, (int, float), "seconds between the last needed approval and Started"),
    "terminate_coupling": (True, bool, "an approved Terminate waits for earlier pending ones of its group"),
    "user_event_limit": (0, int, "user-initiated events at the same time; 0 is no limit (preview: 10)"),
    "user_event_overflow": ("wait", ("wait", "refuse"), "what happens to a user event above the limit"),
    "minimum_notice": (False, bool, "refuse an event with less notice than Azure gives its type, and a Terminate with more"),
    "domains_apart": (False, bool, "refuse an event of the platform that hits another fault domain of a group than a pending one"),
    "os_image_events": (False, bool, "guest OS upgrade and reimage give notice (OSImageNotificationProfile)"),
    "preview_not_before": ("rfc1123", ("rfc1123", "iso8601"), "form of NotBefore for api-version 2017-03-01"),
    "seconds_per_poll": (0, (int, float), "virtual clock: every GET of the document moves the time by this much"),
}


class SwitchError(ValueError):
    """The switch does not exist, or does not take the value."""


class Switches:
    """The switches as attributes: ``switches.rate_limit``."""

    def __init__(self, **changes: Any) -> None:
        for name, (default, _allowed, _text) in SWITCHES.items():
            setattr(self, name, default)
        self.change(changes)

    def __getattr__(self, name: str) -> Any:
        # Only called for missing attributes; it also tells type checkers that all others exist.
        raise AttributeError(name)

    def change(self, changes: Dict[str, Any]) -> None:
        """Check all changes, then apply them: a wrong one changes nothing."""
        for name, value in changes.items():
            check(name, value)
        for name, value in changes.items():
            setattr(self, name, value)

    def as_dict(self) -> Dict[str, Any]:
        """Return all switches with their values."""
        return {name: getattr(self, name) for name in SWITCHES}


def check(name: str, value: Any) -> None:
    """Raise SwitchError if the switch does not exist or does not take the value."""
    if name not in SWITCHES:
        raise SwitchError("there is no switch '%s'; known are %s" % (name, ", ".join(sorted(SWITCHES))))
    allowed = SWITCHES[name][1]
    if isinstance(allowed, tuple) and not isinstance(allowed[0], type):
        good = value in allowed
    else:
        good = isinstance(value, allowed) and (allowed is bool or not isinstance(value, bool))
    if not good:
        raise SwitchError("switch '%s' cannot be %r; it takes %s" % (name, value, _words(allowed)))


def _words(allowed: Any) -> str:
    values = allowed if isinstance(allowed, tuple) else (allowed,)
    return " or ".join(value.__name__ if isinstance(value, type) else repr(value) for value in values)


def parse_assignment(text: str) -> Tuple[str, Any]:
    """Parse ``name=value`` of the command line, the value in JSON or plain text. Raise SwitchError."""
    import json

    name, separator, value = text.partition("=")
    if not separator:
        raise SwitchError("'%s' is not of the form name=value" % text)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
