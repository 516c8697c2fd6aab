# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Discover the endpoint (endpoint: discover). Places yield candidates; the first one that serves Scheduled Events is the endpoint."""

from __future__ import annotations

import glob
import heapq
import os
import stat
import typing as t

from ..core.argument_specs import DISCOVER
from ..core.clock import Clock
from ..core.errors import ScheduledEventsError
from ..core.types import Values
from ..imds.client import Client
from ..imds.transport import Answer, Transport
from .option_245 import VARIABLE, Finding, finding_of_address, parse_lease_file, parse_profile

# The ports of the published samples: the first in Python, the second in C# (fact c).
PORTS = ("", ":8080")
USUAL_ADDRESS = "169.254.169.254"
# The most addresses to try.
MOST_ADDRESSES = 8
# A real lease file has a few kilobytes. Only the end of a longer one is read, where dhclient puts its newest lease.
MOST_BYTES = 256 * 1024
MOST_FILES = 32
DHCP_SECONDS = 10.0
# Answers of a service that is up and busy: such a request gets the client's usual retries.
BUSY = (410, 429, 500, 503, 504)

LEASE_FILES = (
    "run/systemd/netif/leases/*",
    "run/cloud-init/dhclient.hooks/*.json",
    "run/dhclient*.lease*",
    "var/lib/dhcp/dhclient*.lease*",
    "var/lib/dhclient/*.lease*",
    "var/lib/NetworkManager/*.lease",
)


class Candidate(t.NamedTuple):
    """One place as text, with the address found there, or None and the problem."""

    source: str
    address: str | None
    problem: str = ""


class Places(t.Protocol):
    """The places to search on one kind of VM. ``advice`` is the remedy when the endpoint was not found."""

    advice: str

    def candidates(self, seconds: float) -> t.Iterator[Candidate]:
        """Return the candidates, best first. Read a place only if the earlier candidates were not the endpoint. No place blocks for longer than ``seconds``."""


class LocalPlaces:
    """The places of this machine, which runs Linux: environment and profile, leases, one DHCP request, and the default address."""

    advice = (
        "For a VM in a virtual network leave the option endpoint out. For any other, run the task as root (become: true), so "
        f"that DHCP can be asked; or set the environment variable {VARIABLE} or the option endpoint to http://ADDRESS. "
        "The address is the value of option 245 in the VM's DHCP lease."
    )

    def __init__(
        self,
        root: str = "/",
        environment: t.Mapping[str, str] | None = None,
        ask: t.Callable[[float], list[Candidate]] | None = None,
        clock: Clock | None = None,
        usual_address: str = USUAL_ADDRESS,
    ) -> None:
        self._root = root
        self._environment = os.environ if environment is None else environment
        self._ask = ask or _ask_dhcp
        self._clock = clock or Clock()
        self._usual_address = usual_address

    def candidates(self, seconds: float) -> t.Iterator[Candidate]:
        yield self._variable()
        yield from self._profile()
        yield from self._leases()
        yield from self._ask(min(seconds, DHCP_SECONDS))
        # The default address comes last, so that one setting serves VMs inside and outside of virtual networks.
        yield Candidate("Azure's usual address", self._usual_address)

    def _variable(self) -> Candidate:
        source = f"environment variable {VARIABLE}"
        text = self._environment.get(VARIABLE, "").strip()
        return Candidate(source, *finding_of_address(text)) if text else Candidate(source, None, "not set")

    def _profile(self) -> list[Candidate]:
        path = os.path.join(self._root, "etc/profile")
        text, problem = read_bounded(path)
        return _from_file(path, parse_profile(text), problem or f"no line that sets {VARIABLE}")

    def _leases(self) -> t.Iterator[Candidate]:
        paths = _newest(os.path.join(self._root, pattern) for pattern in LEASE_FILES)
        if not paths:
            folders = ", ".join(sorted({"/" + os.path.dirname(pattern) for pattern in LEASE_FILES}))
            yield Candidate("lease files", None, f"none in {folders}")
        for path in paths:
            text, problem = read_bounded(path)
            found = parse_lease_file(text, self._clock.now()) if not problem else []
            yield from _from_file(path, found, problem or "no option 245")


class DiscoveringTransport:
    """Discover the endpoint at the first request, then forward all requests to it.

    So a wait continues while discovery fails, as it does while the service does not answer.
    """

    hint = ""

    def __init__(self, places: Places, connect: t.Callable[[str], Transport], options: Values, clock: Clock | None = None) -> None:
        self._places = places
        self._connect = connect
        self._api_version = options["api_version"]
        self._retries = options["retries"]
        self._clock = clock
        self._found: Transport | None = None
        self._tried: list[str] = []
        self.endpoint = DISCOVER
        self.source: str | None = None

    def request(self, method: str, path: str, body: str | None = None, connect_timeout: float = 5.0, request_timeout: float = 125.0) -> Answer:
        if self._found is None:
            self._found = self._discover(connect_timeout, request_timeout)
            self.endpoint = self._found.endpoint
        return self._found.request(method, path, body, connect_timeout, request_timeout)

    def close(self) -> None:
        if self._found is not None:
            self._found.close()

    def _discover(self, connect_timeout: float, request_timeout: float) -> Transport:
        self._tried = []
        asked: set[str] = set()
        for candidate in self._places.candidates(request_timeout):
            address = candidate.address
            if address is None:
                self._tried.append(f"{candidate.source}: {candidate.problem}")
            elif address in asked:
                self._tried.append(f"{candidate.source}: {address} as well")
            elif len(asked) >= MOST_ADDRESSES:
                self._tried.append(f"{candidate.source}: {address}, not asked after {MOST_ADDRESSES} others")
            else:
                asked.add(address)
                found = self._check(candidate.source, address, connect_timeout, request_timeout)
                if found is not None:
                    self.source = candidate.source
                    return found
        tried = " ".join(f"({number}) {text.rstrip('.')}." for number, text in enumerate(self._tried, start=1))
        raise ScheduledEventsError(
            f"No endpoint of Scheduled Events was found (endpoint: discover). Looked at: {tried} What to do: {self._places.advice}", "not_discovered"
        )

    def _check(self, source: str, address: str, connect_timeout: float, request_timeout: float) -> Transport | None:
        """Return a transport only if the address answers with a Scheduled Events document."""
        for port in PORTS if address != USUAL_ADDRESS else PORTS[:1]:
            transport = self._connect(f"http://{address}{port}")
            client = Client(transport, self._api_version, self._retries, connect_timeout, request_timeout, self._clock)
            try:
                _read_document(client)
                return transport
            except ScheduledEventsError as error:
                transport.close()
                self._tried.append(f"{source}: {address}, but {error.message}")
        return None


def _read_document(client: Client) -> None:
    try:
        client.get_document_once()
    except ScheduledEventsError as error:
        if error.status not in BUSY:
            raise
        client.get_document()


def read_bounded(path: str) -> tuple[str, str]:
    """Return the end of a regular file as text, or why it cannot be read. Never block: pipes and devices are not opened."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return "", "not a plain file"
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            # Checked again: another file may have taken the name.
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return "", "not a plain file"
            file.seek(max(status.st_size - MOST_BYTES, 0))
            return file.read(MOST_BYTES).decode("utf-8", "replace"), ""
    except (OSError, ValueError) as error:
        return "", f"cannot be read ({getattr(error, 'strerror', None) or error})"


def _newest(patterns: t.Iterable[str]) -> list[str]:
    """Return the files, the most recently written first."""
    paths = (path for pattern in patterns for path in glob.iglob(pattern))
    return heapq.nlargest(MOST_FILES, paths, key=_written)


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def _from_file(path: str, found: list[Finding], otherwise: str) -> list[Candidate]:
    return [Candidate(path, *finding) for finding in found] or [Candidate(path, None, otherwise)]


def _ask_dhcp(seconds: float) -> list[Candidate]:
    # Imported here only: most machines never need it.
    from .dhcp import ask

    return [Candidate(source, *finding) for source, finding in ask(seconds)]
