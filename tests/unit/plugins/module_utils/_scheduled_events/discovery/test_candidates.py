# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""endpoint: discover, from the places of a VM to the client. Nothing here asks a network: tests/discovery does, in namespaces."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery import candidates as candidates_module
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.candidates import (
    MOST_ADDRESSES,
    MOST_BYTES,
    MOST_FILES,
    Candidate,
    LocalPlaces,
    read_bounded,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.endpoint import open_client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import HostAccess
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.client import Client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import Transport
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.scheduled_events_approve import approve
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.scheduled_events_info import read_events
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.wait_for_scheduled_event import wait
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    FakeClock,
    FakeTransport,
    document,
    payload,
    raw_event,
)

HOST = "168.63.129.16"
GOOD = document(2, raw_event(EventId="AB-1"))
NO_LISTENER = ScheduledEventsError("no listener.", "no_answer", retryable=True)
OPTIONS = {"endpoint": "discover", "api_version": "auto", "retries": 3, "connect_timeout": 5.0, "request_timeout": 125.0}


class World:
    """Places with a list of candidates, and a network in which some addresses answer."""

    advice = "Ask the operator."

    def __init__(self, candidates: t.Sequence[tuple[t.Any, ...]], network: t.Mapping[str, t.Any]) -> None:
        self.given = [Candidate(*candidate) for candidate in candidates]
        self.network = dict(network)
        self.read_places: list[str] = []
        self.seconds: list[float] = []
        self.connected: list[str] = []
        self.asked: dict[str, FakeTransport] = {}
        self.clock = FakeClock()

    def candidates(self, seconds: float) -> t.Iterator[Candidate]:
        self.seconds.append(seconds)
        for candidate in self.given:
            self.read_places.append(candidate.source)
            yield candidate

    def connect(self, endpoint: str) -> Transport:
        answers = self.network.get(endpoint, NO_LISTENER)
        transport = FakeTransport(*(answers if isinstance(answers, list) else [answers]))
        transport.endpoint = endpoint
        self.connected.append(endpoint)
        self.asked[endpoint] = transport
        return transport

    def client(self, **options: t.Any) -> Client:
        way = HostAccess(check_mode=False, warn=lambda text: None, connect=self.connect, places=lambda: self)
        return open_client({**OPTIONS, **options}, way, clock=self.clock)


def fails(world: World, **options: t.Any) -> str:
    with pytest.raises(ScheduledEventsError) as caught:
        world.client(**options).get_document()
    assert caught.value.kind == "not_discovered"
    return str(caught.value)


# Order of the candidates, and which answers count


def test_the_first_answering_candidate_is_the_endpoint_and_ends_the_search() -> None:
    world = World([("one", None, "not set"), ("two", "1.1.1.1"), ("three", HOST), ("four", "2.2.2.2")], {f"http://{HOST}": GOOD})
    result = read_events(world.client(), {})
    assert (result["endpoint"], result["endpoint_source"], result["document_incarnation"]) == (f"http://{HOST}", "three", 2)
    assert (world.read_places, world.connected) == (["one", "two", "three"], ["http://1.1.1.1", "http://1.1.1.1:8080", f"http://{HOST}"])


def test_the_discovered_endpoint_serves_every_later_request() -> None:
    world = World([("one", HOST)], {f"http://{HOST}": GOOD})
    client = world.client()
    client.get_document()
    client.get_vm_name()
    assert approve(client, ["ab-1"])["endpoint_source"] == "one"
    client.close()
    assert (world.read_places, len(world.connected)) == (["one"], 1)


@pytest.mark.parametrize(
    "answer",
    [NO_LISTENER, "", "{}", '{"Events": 1}', "<html>", (404, "no"), (302, ""), (400, '{"error":"Bad request"}'), (200, "[]")]
    + [ScheduledEventsError("late", "timeout"), ScheduledEventsError("lost", "connection_lost", retryable=True)],
    ids=str,
)
def test_other_services_are_not_taken_for_the_endpoint(answer: t.Any) -> None:
    world = World([("one", "1.1.1.1"), ("two", HOST)], {"http://1.1.1.1": answer, f"http://{HOST}": GOOD})
    assert read_events(world.client(), {})["endpoint"] == f"http://{HOST}"
    # Once on its first port, without repetition.
    assert len(world.asked["http://1.1.1.1"].requests) <= 7 and world.clock.passed == 0


@pytest.mark.parametrize("status", [410, 429, 500, 503, 504])
def test_a_service_that_is_busy_is_given_time(status: int) -> None:
    world = World([("one", HOST), ("two", "1.1.1.1")], {f"http://{HOST}": [(status, ""), (status, ""), GOOD], "http://1.1.1.1": GOOD})
    assert read_events(world.client(), {})["endpoint"] == f"http://{HOST}"


def test_the_second_port_is_for_the_published_library() -> None:
    world = World([("one", HOST)], {f"http://{HOST}:8080": GOOD})
    assert read_events(world.client(), {})["endpoint"] == f"http://{HOST}:8080"
    world = World([("one", "169.254.169.254")], {})
    fails(world)
    assert world.connected == ["http://169.254.169.254"]


def test_an_older_api_version_is_found_out_as_always() -> None:
    rejects = (400, '{"error":"Bad request. api-version is invalid"}')
    world = World([("one", HOST)], {f"http://{HOST}": [rejects, GOOD]})
    client = world.client()
    client.get_document()
    assert client.transport.endpoint == f"http://{HOST}"


def test_an_error_lists_every_place_and_what_to_do() -> None:
    world = World([("one", None, "not set"), ("two", "1.1.1.1"), ("three", "1.1.1.1"), ("four", None, "broken.")], {"http://1.1.1.1": (404, "no")})
    text = fails(world)
    beginning = "No endpoint of Scheduled Events was found (endpoint: discover). Looked at: "
    assert text.startswith(f"{beginning}(1) one: not set. (2) two: 1.1.1.1, but GET http://1.1.1.1/")
    for words in ("status 404", "(3) two: 1.1.1.1, but no listener. ", "(4) three: 1.1.1.1 as well. ", "(5) four: broken. ", "What to do: Ask the operator."):
        assert words in text


def test_many_addresses_are_not_all_asked() -> None:
    world = World([(f"place {number}", f"1.1.1.{number}") for number in range(1, 40)], {})
    assert f"place 39: 1.1.1.39, not asked after {MOST_ADDRESSES} others" in fails(world)
    assert len(world.connected) == 2 * MOST_ADDRESSES


# Errors, clocks and options


def test_nothing_is_discovered_before_the_first_request_and_nothing_for_a_given_address() -> None:
    world = World([("one", HOST)], {f"http://{HOST}": GOOD, "http://1.2.3.4": GOOD})
    assert world.client().where() == {"endpoint": None, "endpoint_source": None}
    given = world.client(endpoint="http://1.2.3.4")
    given.get_document()
    assert given.where() == {"endpoint": "http://1.2.3.4", "endpoint_source": None}
    assert world.read_places == []


def test_discover_is_accepted_in_any_case() -> None:
    world = World([("one", HOST)], {f"http://{HOST}": GOOD})
    assert read_events(world.client(endpoint=" Discover "), {})["endpoint_source"] == "one"


def test_a_vm_without_places_of_its_own_does_not_get_those_of_this_machine() -> None:
    way = HostAccess(check_mode=False, warn=lambda text: None, connect=World([], {}).connect)
    with pytest.raises(ScheduledEventsError) as caught:
        open_client(OPTIONS, way)
    assert caught.value.kind == "bad_option" and "Give the option endpoint" in str(caught.value)


def test_a_wait_goes_on_until_it_is_found() -> None:
    world = World([("one", None, "not yet")], {f"http://{HOST}": GOOD})
    client = world.client()
    sleep = world.clock.sleep

    def later(seconds: float) -> None:
        sleep(seconds)
        if len(world.read_places) == 3:
            world.given = [Candidate("two", HOST)]

    world.clock.sleep = later
    result = wait(client, "scheduled", timeout=600)
    assert (result["outcome"], result["endpoint"], result["failed_polls"]) == ("matched", f"http://{HOST}", 3)


def test_a_wait_in_vain_says_so_at_its_end() -> None:
    world = World([("one", None, "not set")], {})
    with pytest.raises(ScheduledEventsError) as caught:
        wait(world.client(), "scheduled", timeout=30)
    assert caught.value.kind == "timeout" and "(1) one: not set." in str(caught.value)
    assert (caught.value.result["endpoint"], caught.value.result["endpoint_source"]) == (None, None)
    # No place may block the last poll much longer than the wait itself.
    assert world.seconds[-1] <= 1.0


def test_approving_in_vain_says_so() -> None:
    with pytest.raises(ScheduledEventsError) as caught:
        approve(World([], {}).client(), ["AB-1"])
    assert (caught.value.kind, caught.value.result["approved"]) == ("not_discovered", [])


def test_with_an_address_discovery_is_not_loaded() -> None:
    base = "ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events"
    options = {**OPTIONS, "endpoint": "http://127.0.0.1:1"}
    program = f"""
import sys, {base}.discovery.endpoint as endpoint
endpoint.open_client({options!r})
print([name for name in sys.modules if name.startswith({base!r})])
"""
    # ansible-test finds the collection by a loader that the other process does not have.
    above = next(str(folder.parent) for folder in pathlib.Path(candidates_module.__file__).parents if folder.name == "ansible_collections")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [above, os.environ.get("PYTHONPATH")])))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert f"{base}.imds.client" in done.stdout and f"{base}.discovery.candidates" not in done.stdout


# This machine's places, below a folder that replaces its root


def places(root: pathlib.Path, environment: t.Mapping[str, str] | None = None, dhcp: t.Sequence[Candidate] = ()) -> LocalPlaces:
    seconds: list[float] = []

    def ask(limit: float) -> list[Candidate]:
        seconds.append(limit)
        return list(dhcp)

    made = LocalPlaces(str(root), environment or {}, ask, FakeClock(), usual_address="192.0.2.1")
    made.seconds = seconds  # type: ignore[attr-defined]
    return made


def write(root: pathlib.Path, path: str, text: str, age: float = 0) -> str:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (2_000_000_000 - age,) * 2)
    return str(file)


LEASE = payload("dhclient_lease_option245.txt").decode()
NETWORKD = "ADDRESS=172.16.3.4\nOPTION_245=05040302\n"


def test_the_order_of_places(tmp_path: pathlib.Path) -> None:
    profile = write(tmp_path, "etc/profile", "export SCHEDULEDEVENTSIP=3.3.3.3\n")
    newest = write(tmp_path, "var/lib/dhcp/dhclient.eth0.leases", LEASE, age=1)
    older = write(tmp_path, "run/systemd/netif/leases/2", NETWORKD, age=2)
    oldest = write(tmp_path, "run/cloud-init/dhclient.hooks/eth0.json", '{"unknown_245": "6:6:6:6"}', age=3)
    made = places(tmp_path, {"SCHEDULEDEVENTSIP": " 2.2.2.2 "}, [Candidate("DHCP on eth0", "4.4.4.4")])
    assert list(made.candidates(125.0)) == [
        Candidate("environment variable SCHEDULEDEVENTSIP", "2.2.2.2"),
        Candidate(profile, "3.3.3.3"),
        Candidate(newest, HOST),
        Candidate(older, "5.4.3.2"),
        Candidate(oldest, "6.6.6.6"),
        Candidate("DHCP on eth0", "4.4.4.4"),
        Candidate("Azure's usual address", "192.0.2.1"),
    ]
    assert made.seconds == [10.0]  # type: ignore[attr-defined]


def test_no_dhcp_request_while_files_have_the_address(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "var/lib/dhcp/dhclient.eth0.leases", LEASE)
    made = places(tmp_path)
    assert next(candidate for candidate in made.candidates(5.0) if candidate.address).address == HOST
    assert made.seconds == []  # type: ignore[attr-defined]
    assert len(list(made.candidates(5.0))) and made.seconds == [5.0]  # type: ignore[attr-defined]


def test_empty_places_say_so(tmp_path: pathlib.Path) -> None:
    said = [(candidate.address, candidate.problem) for candidate in places(tmp_path).candidates(5.0)]
    folders = "/run, /run/cloud-init/dhclient.hooks, /run/systemd/netif/leases, /var/lib/NetworkManager, /var/lib/dhclient, /var/lib/dhcp"
    assert said == [(None, "not set"), (None, "cannot be read (No such file or directory)"), (None, f"none in {folders}"), ("192.0.2.1", "")]


def test_places_with_something_else(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "etc/profile", "umask 022\n")
    write(tmp_path, "var/lib/NetworkManager/internal-1-eth0.lease", "ADDRESS=10.1.42.5\n")
    said = {candidate.source: candidate.problem for candidate in places(tmp_path, {"SCHEDULEDEVENTSIP": "http://x"}).candidates(5.0)}
    assert list(said.values()) == ["'http://x' is not an IPv4 address", "no line that sets SCHEDULEDEVENTSIP", "no option 245", ""]


def test_thousands_of_files_are_not_all_read(tmp_path: pathlib.Path) -> None:
    for number in range(2_000):
        write(tmp_path, f"run/systemd/netif/leases/{number}", NETWORKD, age=number)
    found = [candidate.source for candidate in places(tmp_path).candidates(5.0) if "netif" in candidate.source]
    assert found == [str(tmp_path / f"run/systemd/netif/leases/{number}") for number in range(MOST_FILES)]


def test_reading_a_file_never_waits_and_never_takes_all(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    (tmp_path / "plain").write_bytes(b"\xff" * 10 + b"text")
    (tmp_path / "large").write_bytes(b"a" * (3 * MOST_BYTES) + b"end")
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 40)
    assert read_bounded(str(tmp_path / "pipe")) == read_bounded(str(tmp_path / "device")) == read_bounded(str(tmp_path)) == ("", "not a plain file")
    assert "cannot be read" in read_bounded(str(tmp_path / "loop"))[1] and "cannot be read" in read_bounded("\0")[1]
    assert read_bounded(str(tmp_path / "link")) == ("\ufffd" * 10 + "text", "")
    text, problem = read_bounded(str(tmp_path / "large"))
    assert (len(text), text[-4:], problem) == (MOST_BYTES, "aend", "")
    assert len(read_bounded(str(tmp_path / "hole"))[0]) == MOST_BYTES


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    os.mkfifo(path)
    (tmp_path / "plain").touch()
    plain = os.stat(tmp_path / "plain")
    monkeypatch.setattr(candidates_module.os, "stat", lambda *_arguments, **_more: plain)
    assert read_bounded(str(path)) == ("", "not a plain file")
