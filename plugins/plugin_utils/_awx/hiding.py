# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Keep secrets out of all output. They are compared and sent, and never shown.

With the address of a Slack or Teams webhook anyone may post there, and a header may carry a token. So of a notification template's
configuration only keys that are known to be harmless are shown; unknown keys are hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ...module_utils._scheduled_events.core.types import Data, Values

CONFIGURATION = "notification_configuration"
# AWX's own placeholder for values that it never shows.
ENCRYPTED = "$encrypted$"
SECRET = "(hidden)"
OTHER_SECRET = "(hidden, and another one)"
# Harmless keys of all types of notification (awx/main/notifications, read at commit 0123329).
HARMLESS = {
    *("host", "port", "username", "use_tls", "use_ssl", "sender", "recipients", "timeout", "server", "nickname", "targets"),
    *("channels", "channel", "hex_color", "http_method", "disable_ssl_verification", "mattermost_username", "mattermost_channel", "mattermost_no_verify_ssl"),
    *("rocketchat_username", "rocketchat_no_verify_ssl", "account_sid", "from_number", "to_numbers", "subdomain", "client_name"),
    *("dashboardId", "panelId", "annotation_tags", "isRegion", "grafana_no_verify_ssl", "aws_region", "sns_topic_arn"),
}
# Names of variables whose values are hidden if AWX has other values than wanted.
NAME = re.compile(r"pass(word|wd|phrase)?$|_pass\b|password|secret|token|api_?key|access_?key|private_?key$|credential", re.IGNORECASE)
LOGIN = re.compile(r"^(https?://)[^/@\s]+@", re.IGNORECASE)
# Shorter texts would also occur in ordinary words.
SHORTEST = 6


def hide(one: Values) -> Data:
    """Return an object with its secrets hidden. Values that are hidden already stay so."""
    arguments = dict(one["arguments"])
    if one["kind"] == "notification_template" and isinstance(arguments.get(CONFIGURATION), Mapping):
        arguments[CONFIGURATION] = {key: SECRET if _hidden(key, value) else value for key, value in arguments[CONFIGURATION].items()}
    return {**one, "arguments": arguments}


def hide_found(one: Values, item: Values) -> Data:
    """Return what AWX has of an object, with secrets hidden: a secret only shows whether it is the wanted one."""
    if not one["made"]:
        # Another owner's object: only its existence matters.
        return {key: item[key] for key in ("id", "name", "description") if key in item}
    shown = dict(item)
    if one["kind"] == "notification_template" and isinstance(shown.get(CONFIGURATION), Mapping):
        wanted = one["arguments"].get(CONFIGURATION) or {}
        shown[CONFIGURATION] = {key: _found_secret(value, wanted.get(key)) if _hidden(key, value) else value for key, value in shown[CONFIGURATION].items()}
    if shown.get("host_config_key"):
        shown["host_config_key"] = OTHER_SECRET
    if isinstance(shown.get("scm_url"), str):
        shown["scm_url"] = LOGIN.sub(rf"\1{SECRET}@", shown["scm_url"])
    return shown


def hide_difference(difference: Values) -> Data:
    """Return a difference without values whose names mark them as secrets."""
    return {**difference, **{side: _named(str(difference["what"]), difference[side]) for side in ("before", "after")}}


def _named(name: str, value: Any) -> Any:
    if NAME.search(name) and value not in (None, "", {}, []):
        return SECRET
    if isinstance(value, Mapping):
        return {key: _named(str(key), inner) for key, inner in value.items()}
    return [_named("", inner) for inner in value] if isinstance(value, list) else value


def _hidden(key: str, value: Any) -> bool:
    return key not in HARMLESS and value not in (None, "", {}, [], ENCRYPTED) and not isinstance(value, bool)


def _found_secret(value: Any, wanted: Any) -> str:
    return SECRET if _same(value, wanted) else OTHER_SECRET


def _same(value: Any, wanted: Any) -> bool:
    """Return whether AWX has the wanted value, as far as it shows it."""
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return set(value) == set(wanted) and all(_same(value[key], wanted[key]) for key in value)
    return bool(value in (ENCRYPTED, wanted))


def secrets(objects: Iterable[Values]) -> list[str]:
    """Return the texts to redact, longest first: whole values, and the secret parts of them."""
    found: set[str] = set()
    for one in objects:
        configuration = one["arguments"].get(CONFIGURATION)
        for key, value in configuration.items() if isinstance(configuration, Mapping) else ():
            if _hidden(str(key), value):
                found.update(part for text in _texts(value) for part in _parts(text))
    return sorted((text for text in found if len(text) >= SHORTEST), key=lambda text: (-len(text), text))


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [text for inner in value for text in _texts(inner)]
    return [str(value)]


def _parts(text: str) -> list[str]:
    """Return the text, its words (``Bearer TOKEN``), and of an address everything except the scheme and the host."""
    words = [word for word in text.split() if "://" not in word]
    pieces = re.split(r"[/?&=]", urlsplit(text).path + "?" + urlsplit(text).query) if "://" in text else []
    return [text, *words, *(piece for piece in pieces if len(piece) >= 2 * SHORTEST)]


def redact(text: str, hidden: Sequence[str]) -> str:
    """Return a text from elsewhere with the secrets that it repeats replaced."""
    for secret in hidden:
        text = text.replace(secret, SECRET)
    return text
