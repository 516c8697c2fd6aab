# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Which addresses a drain method may connect to: loopback, the VM's own, and those that its settings name. What is resolved is checked, and connected to."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
import typing as t

# Azure's endpoints on every VM: what a method sends must not reach them, whatever is configured.
NEVER = (ipaddress.ip_address("169.254.169.254"), ipaddress.ip_address("168.63.129.16"))

Address = t.Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
HostPort = t.Tuple[str, int]


def connect(host: str, port: int, named: t.Iterable[HostPort], seconds: float) -> socket.socket:
    """Return a connection to the first address of a host that may be connected to and answers. Raise OSError."""
    end = time.monotonic() + seconds
    chosen = allowed(resolve(host, seconds), port, named, end)
    if not chosen:
        raise PermissionError(f"{host} is neither loopback, nor this VM's own address, nor named in the settings of the method with port {port}; not asked")
    failure: OSError = socket.timeout("timed out")
    for address in chosen:
        left = end - time.monotonic()
        if left <= 0:
            break
        try:
            return socket.create_connection((str(address), port), timeout=left)
        except OSError as error:
            failure = error
    raise failure


def allowed(found: t.Iterable[Address], port: int, named: t.Iterable[HostPort], end: float) -> list[Address]:
    """Return those of the addresses that may be connected to. Names in the settings are resolved only where an address is not this machine's."""
    chosen: list[Address] = []
    foreign: list[Address] = []
    for address in found:
        if address not in NEVER:
            (chosen if address.is_loopback or is_own(address) else foreign).append(address)
    if foreign:
        there = {address for host, its_port in named if its_port == port for address in _resolved(host, end - time.monotonic())}
        chosen += [address for address in foreign if address in there]
    return chosen


def is_own(address: Address) -> bool:
    """Return whether this machine has an address: the kernel would send from it to itself. Nothing is sent."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return ipaddress.ip_address(probe.getsockname()[0].partition("%")[0]) == address
    except (OSError, ValueError):
        return False


def resolve(host: str, seconds: float) -> list[Address]:
    """Return the addresses of a host. Raise OSError, also after so many seconds: the system's own resolver has no time limit."""
    try:
        return [_plain(ipaddress.ip_address(host))]
    except ValueError:
        pass
    found: list[Address] = []
    failures: list[Exception] = []

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(_plain(ipaddress.ip_address(str(answer[4][0]).partition("%")[0])) for answer in answers))
        except (OSError, ValueError) as error:  # UnicodeError, for a name that cannot be one, is a ValueError
            failures.append(error)

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(seconds, 0.0))
    if failures or not found:
        raise OSError(f"the name {host} cannot be resolved ({failures[0] if failures else 'no answer in time'})")
    return list(found)


def _resolved(host: str, seconds: float) -> list[Address]:
    """Return the addresses of a host in the settings; none where it cannot be resolved: then it allows nothing."""
    try:
        return resolve(host, seconds)
    except OSError:
        return []


def _plain(address: Address) -> Address:
    """Return an IPv4 address in place of its form in IPv6: both reach the same host."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
