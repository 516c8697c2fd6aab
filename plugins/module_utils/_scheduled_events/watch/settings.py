# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The settings of the watcher, which role watch writes to one file that only root can change. The credential is a file of its own."""

from __future__ import annotations

import os
import typing as t
from urllib.parse import urlsplit

from ..core.argument_specs import API_VERSIONS, DEFAULT_ENDPOINT, DISCOVER
from ..core.bounded_json import load_bounded
from ..host import file_access
from ..host.watcher_state import FOLDER

SETTINGS_BYTES = 256 * 1024
CREDENTIAL_BYTES = 8 * 1024
# Five requests a second are all that a VM may send (fact b4), and other agents share them.
SHORTEST_INTERVAL = 0.25
CREDENTIALS = ("none", "bearer", "hmac")
ABOUT = ("this_vm", "any")
CLIENT = ("tell_client_certificate", "tell_client_key")
LINUX, WINDOWS = "linux", "windows"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
GOOD_URL = "https://HOST[:PORT][/PATH], or http:// to 127.0.0.1, without a user's name"


class SettingsError(ValueError):
    """A file of settings that cannot be used; the message says which value is wrong and what it must be."""


class Settings(t.NamedTuple):
    """All settings of the watcher. The defaults are those of role watch."""

    endpoint: str = DEFAULT_ENDPOINT
    api_version: str = "auto"
    interval: float = 1.0
    """Seconds from one request to the next."""
    vm_name: str | None = None
    """This VM's name in Azure; None to ask the endpoint for it."""
    tell_about: str = "this_vm"
    """Whose events are told: those that name this VM, or any in its document."""
    tell_url: str | None = None
    """Where to send messages: https://..., or http://... on this machine; None to send none."""
    tell_folder: str | None = None
    """The folder into which messages are written instead, for other tools."""
    tell_credential: str = "none"
    """How a message proves its sender: none, bearer or hmac."""
    tell_credential_file: str | None = None
    tell_hmac_header: str = "X-Hub-Signature-256"
    tell_certificates: str | None = None
    """A file of certificates of authorities, in PEM; None for those of the system."""
    tell_client_certificate: str | None = None
    """This VM's own certificate for receivers that want one, in PEM, with those of its authorities between; None to show none."""
    tell_client_key: str | None = None
    """The file of that certificate's key."""
    tell_timeout: float = 10.0
    """Seconds for one delivery."""
    runtime_folder: str = FOLDER
    state_folder: str = "/var/lib/azure-maintenance-watch"
    seen_folder: str = "/run/azure-maintenance-seen"
    figures_folder: str | None = None
    """The folder of node_exporter's textfile collector; None to write no metrics."""
    records_path: str | None = None
    """The folder of this VM's records; None for the default of the modules."""
    drain_types: t.Sequence[str] = ()
    """The types of events for which this VM drains by itself."""
    drain_started: bool = False
    """Whether it also drains for one of these that has started; for a Preempt it always does."""
    drain_before: float = 60.0
    """Seconds before NotBefore in which it drains for types other than Preempt, because no run has done it by then."""
    drain_folder: str = "/run/azure-maintenance-drain"
    """The folder through which the asker starts the draining unit."""
    drain_file: str = "/etc/azure-maintenance-watch/drain.json"
    """The policy and the methods, which only root can read."""
    system: str = LINUX
    """linux, where systemd starts each part; or windows, where the asker starts the teller and nothing drains."""

    @property
    def tells(self) -> bool:
        """Return whether messages go anywhere."""
        return self.tell_url is not None or self.tell_folder is not None


def read_settings(path: str) -> Settings:
    """Read a file of settings. Raise SettingsError, also for a file that another user than root or this one may write."""
    with _open(path, f"{path} cannot be read: {{}}. Role watch writes it.") as stream:
        present = os.fstat(stream.fileno())
        if file_access.belongs_to_others(present):
            raise SettingsError(f"{path} must be a file of root that no other user may write; run role watch again.")
        content = stream.read(SETTINGS_BYTES + 1)
    try:
        if len(content) > SETTINGS_BYTES:
            raise ValueError(f"it is larger than {SETTINGS_BYTES} bytes")
        data = load_bounded(content.decode("utf-8"), lambda digits: None)
    except (ValueError, RecursionError, OverflowError) as error:
        raise SettingsError(f"{path} is not usable: {error}. Run role watch again.")
    try:
        return parse_settings(data)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}")


def parse_settings(data: t.Any, prefix: str = "") -> Settings:
    """Return the settings of parsed JSON. Raise SettingsError, in which this prefix stands before each key: role watch has options instead."""
    if not isinstance(data, dict):
        raise SettingsError("this is not a JSON object.")
    unknown = sorted(set(data) - set(Settings._fields))
    if unknown:
        raise SettingsError(f"{prefix}{unknown[0]} is unknown; known are {', '.join(prefix + key for key in Settings._fields)}.")
    settings = Settings(**data)
    for key, wrong in _wrong_values(settings, prefix):
        if wrong:
            value = getattr(settings, key)
            value = shown_url(value) if key == "tell_url" else value
            raise SettingsError(f"{prefix}{key} is {'empty' if value is None else repr(value)}; it must be {wrong}.")
    return settings


def _wrong_values(settings: Settings, prefix: str) -> t.Iterator[tuple[str, str | None]]:
    yield "interval", _wrong_number(settings.interval, SHORTEST_INTERVAL, 3600)
    yield "tell_timeout", _wrong_number(settings.tell_timeout, 1, 300)
    yield "drain_before", _wrong_number(settings.drain_before, 0, 86400)
    yield "drain_started", None if isinstance(settings.drain_started, bool) else "true or false"
    yield "drain_types", None if _are_texts(settings.drain_types) else "a list of types of events, such as Preempt"
    yield "system", _wrong_choice(settings.system, (LINUX, WINDOWS))
    yield from _wrong_on_windows(settings) if settings.system == WINDOWS else ()
    yield "api_version", _wrong_choice(settings.api_version, ("auto", *API_VERSIONS))
    yield "tell_about", _wrong_choice(settings.tell_about, ABOUT)
    yield "tell_credential", _wrong_choice(settings.tell_credential, CREDENTIALS)
    for key in ("endpoint", "runtime_folder", "state_folder", "seen_folder", "tell_hmac_header", "drain_folder", "drain_file"):
        yield key, None if isinstance(getattr(settings, key), str) and getattr(settings, key) else "a text that is not empty"
    for key in ("vm_name", "records_path", "tell_url", "tell_folder", "tell_credential_file", "tell_certificates", "figures_folder", *CLIENT):
        yield key, None if isinstance(getattr(settings, key), (str, type(None))) and getattr(settings, key) != "" else "a text that is not empty, or left out"
    yield "endpoint", None if settings.endpoint != DISCOVER else "an address such as http://169.254.169.254"
    metrics = settings.figures_folder
    yield "figures_folder", None if metrics is None or (metrics.startswith("/") and not metrics.endswith("/")) else "a whole path without / at its end"
    yield "tell_url", None if settings.tell_url is None or _is_good_url(settings.tell_url) else GOOD_URL
    one_place = settings.tell_folder is None or settings.tell_url is None
    yield "tell_folder", None if one_place else f"empty where {prefix}tell_url is given: messages go to one place"
    if settings.system == LINUX:
        for key in ("tell_folder", "records_path"):
            yield key, None if str(getattr(settings, key) or "/").startswith("/") else "a whole path, which begins with /"
    wanted = settings.tell_credential == "none" or settings.tell_credential_file is not None
    yield "tell_credential_file", None if wanted else f"the path of the credential's file, because {prefix}tell_credential is not none"
    yield from _wrong_client(settings, prefix)


def _wrong_client(settings: Settings, prefix: str) -> t.Iterator[tuple[str, str | None]]:
    certificate, key = settings.tell_client_certificate, settings.tell_client_key
    yield "tell_client_key", None if (key is None) == (certificate is None) else f"given with {prefix}tell_client_certificate, and empty without it"
    secured = certificate is None or str(settings.tell_url).startswith("https://")
    yield "tell_client_certificate", None if secured else f"empty where {prefix}tell_url is not https://..., because only TLS shows it"


def _wrong_on_windows(settings: Settings) -> t.Iterator[tuple[str, str | None]]:
    """What needs systemd, or a user of its own."""
    yield "drain_types", None if not settings.drain_types else "an empty list, because a Windows VM does not drain by itself; a run of respond drains it"
    yield "figures_folder", None if settings.figures_folder is None else "empty, because the watcher writes no metrics on Windows"


def _is_good_url(url: str) -> bool:
    """Return whether messages may be sent there: in the clear, with a credential, only to this machine."""
    try:
        parts = urlsplit(url)
        host, plain, _port = parts.hostname, parts.scheme == "http", parts.port
    except ValueError:
        return False
    return bool(host) and parts.username is None and (parts.scheme == "https" or (plain and host in LOOPBACK)) and url.isascii()


def shown_url(url: t.Any) -> str:
    """Return where a URL leads, for logs and messages. What follows the host may be a secret, as those of chat services are."""
    try:
        parts = urlsplit(str(url))
        known = parts.scheme and parts.hostname and (parts.port or True)
    except ValueError:
        known = False
    if not known:
        return "a text that is not shown here"
    rest = "..." if parts.path not in ("", "/") or parts.query or parts.fragment else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{rest}"


def _are_texts(value: t.Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) and one for one in value)


def _wrong_number(value: t.Any, least: float, most: float) -> str | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most
    return None if good else f"a number of seconds from {least:g} to {most:g}"


def _wrong_choice(value: t.Any, choices: t.Sequence[str]) -> str | None:
    return None if value in choices else f"one of {', '.join(choices)}"


def read_credential(path: str) -> str:
    """Return the credential in a file that other users cannot read. Raise SettingsError, without any of its content."""
    with _open(path, f"The credential in {path} cannot be read: {{}}.") as stream:
        _refuse_public(stream, path)
        content = stream.read(CREDENTIAL_BYTES + 1)
    text = content.decode("ascii", "replace").strip()
    if not text or len(content) > CREDENTIAL_BYTES or not all(33 <= ord(letter) < 127 for letter in text):
        raise SettingsError(f"The credential in {path} must be one line of printable ASCII without blanks, of at most {CREDENTIAL_BYTES} letters.")
    return text


def changed_at(*paths: str | None) -> str:
    """Return when these files were changed, as a text that says nothing of what is in them. One that is missing counts, too."""
    return " ".join(_changed_at(path) for path in paths if path is not None)


def _changed_at(path: str) -> str:
    try:
        return str(os.stat(path).st_mtime_ns)
    except OSError:
        return "missing"


def check_key(path: str) -> None:
    """Raise SettingsError where a key cannot be read, or where other users can read it. It may be a link, as those of certificate tools are."""
    with _open(os.path.realpath(path), f"The key in {path} cannot be read: {{}}.") as stream:
        _refuse_public(stream, path)


def _refuse_public(stream: t.BinaryIO, path: str) -> None:
    """Raise SettingsError for a secret that other users may read or change."""
    present = os.fstat(stream.fileno())
    # Its owner may be another one: root checks the teller's secrets, too.
    if file_access.readable_by_others(present):
        raise SettingsError(f"{path} must be a file that only its owner may read (mode 0400 or 0600; its group may, with 0640).")


def _open(path: str, failure: str) -> t.BinaryIO:
    """Open a file, but no link and no pipe. Raise SettingsError with this text, into which the reason is put."""
    try:
        return file_access.open_to_read(path)
    except OSError as error:
        raise SettingsError(failure.format(error.strerror or "it is not a regular file"))
