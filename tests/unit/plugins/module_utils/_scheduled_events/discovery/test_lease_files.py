# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Option 245 in lease files of every form, in /etc/profile, and in arbitrary text."""

from __future__ import annotations

import datetime
import json
import time
import typing as t

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.option_245 import (
    MOST_FINDINGS,
    Finding,
    finding_of_address,
    finding_of_value,
    parse_lease_file,
    parse_profile,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.support import payload

NOW = datetime.datetime(2026, 11, 22, 4, 0, tzinfo=datetime.timezone.utc)
HOST = "168.63.129.16"
QUICK = settings(max_examples=1000, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def lease(value: str = "a8:3f:81:10", expire: str = "never", name: str = "unknown-245", more: str = "") -> str:
    return f'lease {{\n  interface "eth0";\n  fixed-address 172.16.3.4;\n{more}  option {name} {value};\n  renew 3 2026/11/25;\n  expire {expire};\n}}\n'


def read(text: str) -> list[Finding]:
    return parse_lease_file(text, NOW)


def test_the_published_vector() -> None:
    assert read(payload("dhclient_lease_option245.txt").decode()) == [Finding(HOST)]


@pytest.mark.parametrize("name", ["unknown-245", "option-245", "private-245", "UNKNOWN-245"])
def test_names_of_the_option(name: str) -> None:
    assert read(lease(name=name)) == [Finding(HOST)]


@pytest.mark.parametrize("name", ["unknown-2450", "xunknown-245", "unknown-24", "domain-name"])
def test_other_options(name: str) -> None:
    assert read(lease(name=name)) == []


@pytest.mark.parametrize(
    "value, address",
    [
        ("a8:3f:81:10", HOST),
        ("A8:3F:81:10", HOST),
        ("a83f8110", HOST),
        ("168.63.129.16", HOST),
        ("5:4:3:2", "5.4.3.2"),
        ('"dX<A"', "100.88.60.65"),
        (r'"\250?\201\020"', HOST),
        (r'"\"\\#}"', "34.92.35.125"),
    ],
)
def test_forms_of_a_value(value: str, address: str) -> None:
    assert finding_of_value(value) == Finding(address)
    assert read(lease(value)) == [Finding(address)]


@pytest.mark.parametrize(
    "value, problem",
    [
        ("a8:3f:81:10:1", "has 5 bytes instead of 4"),
        ("a8:3f:81", "has 3 bytes instead of 4"),
        ("a83f81101", "is not an IPv4 address"),
        ('"abc"', "has 3 bytes instead of 4"),
        ('""', "has 0 bytes instead of 4"),
        ('"', "is not an IPv4 address"),
        ("a8:3f:81:zz", "is not an IPv4 address"),
        ("7f:0:0:1", "127.0.0.1 cannot be the address of Azure's host"),
        ("", "'' is not an IPv4 address"),
    ],
)
def test_values_that_are_no_address(value: str, problem: str) -> None:
    found = finding_of_value(value)
    assert found.address is None and problem in found.problem


@pytest.mark.parametrize(
    "text",
    ["1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4:80", "1.2.3.4\n", " 1.2.3.4", "http://1.2.3.4", "host", "::1", "\u0661.2.3.4", "1.2.3.-4"]
    + ["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
)
def test_not_a_plain_address(text: str) -> None:
    found = finding_of_address(text)
    assert found.address is None and found.problem.isprintable()


@pytest.mark.parametrize(
    "expire, expired",
    [
        ("never", ""),
        ("0 2026/11/22 04:00:01", ""),
        ("0 2026/11/22 04:00:00", "expired at 2026-11-22T04:00:00Z"),
        ("1 2001/01/01 00:00:00", "expired at 2001-01-01T00:00:00Z"),
        ("epoch 1795320001; # Sun Nov 22 04:00:01 2026", ""),
        ("epoch 1795320000", "expired at 2026-11-22T04:00:00Z"),
        ("epoch 99999999999999999999999999", "does not say until when it holds"),
        ("epoch", "does not say until when it holds"),
        ("0 2026/13/45 99:99:99", "does not say until when it holds"),
        ("", "does not say until when it holds"),
    ],
)
def test_only_leases_that_hold(expire: str, expired: str) -> None:
    (found,) = read(lease(expire=expire))
    assert found == (Finding(None, f"{HOST} in a lease that {expired}") if expired else Finding(HOST))


def test_the_newest_lease_first_and_usable_ones_before_others() -> None:
    text = lease("1:2:3:5") + lease("1:2:3:4") + lease("9:9:9:9", expire="1 2001/01/01 00:00:00") + lease("1:2:3:4")
    assert [found.address for found in read(lease("1:1:1:1") + lease("2:2:2:2"))] == ["2.2.2.2", "1.1.1.1"]
    assert [found.address for found in read(text)] == ["1.2.3.4", "1.2.3.5", None]


def test_quoted_text_and_comments_are_not_statements() -> None:
    more = '  option domain-name "x; } lease { option unknown-245 6:6:6:6; expire never; }";\n  # option unknown-245 7:7:7:7;\n'
    assert read(lease(more=more)) == [Finding(HOST)]


def test_leases_of_version_6_and_other_blocks_are_passed_over() -> None:
    inner = lease("1:1:1:1").replace("lease {", "ia-na {")
    assert read(lease(more="vendor {\n option unknown-245 1:1:1:1;\n }\n")) == [Finding(HOST)]
    assert read("lease6 {\n" + inner + "}\n" + lease() + "key x {\n" + inner + "}\n") == [Finding(HOST)]


def test_a_file_cut_at_its_beginning() -> None:
    text = lease('"\\"') * 3 + lease()
    for begin in range(0, len(text) - len(lease()), 7):
        assert Finding(HOST) in read(text[begin:])


def test_networkd_networkmanager_and_cloud_init() -> None:
    head = "# This is private data. Do not parse.\nADDRESS=172.16.3.4\nCLIENTID=ff00\n"
    assert read(head + "OPTION_245=a83f8110\nOPTION_120=01\n") == [Finding(HOST)]
    assert read(head + "private_245=a8:3f:81:10\n") == [Finding(HOST)]
    assert read(head) == []
    assert read(json.dumps({"unknown_245": "a8:3f:81:10", "routers": "172.16.3.1"})) == [Finding(HOST)]
    assert read(json.dumps({"DHCP4_UNKNOWN_245": "a8:3f:81:10"})) == [Finding(HOST)]
    assert read(json.dumps({"unknown_245": 7, "x": {"unknown_245": "1:1:1:1"}})) == [Finding(None, "'7' is not an IPv4 address")]
    assert read('{"unknown_245": ') == [Finding(None, "it is not JSON")]
    assert read("{" * 100_000) == [Finding(None, "it is not JSON")]
    assert read('{"a":' * 100_000) == [Finding(None, "it is not JSON")]


@pytest.mark.parametrize(
    "text, found",
    [
        (f"umask 022\nexport SCHEDULEDEVENTSIP={HOST}\n", [Finding(HOST)]),
        (f'  export SCHEDULEDEVENTSIP="{HOST}" # by the sample\n', [Finding(HOST)]),
        (f"SCHEDULEDEVENTSIP='{HOST}'; export SCHEDULEDEVENTSIP\n", [Finding(HOST)]),
        (f"export SCHEDULEDEVENTSIP=1.1.1.1\nexport SCHEDULEDEVENTSIP={HOST}", [Finding(HOST)]),
        (f"# export SCHEDULEDEVENTSIP={HOST}\n", []),
        (f"export OLDSCHEDULEDEVENTSIP={HOST}\n", []),
        ("", []),
        ("export SCHEDULEDEVENTSIP=$(host)\n", [Finding(None, "'$(host)' is not an IPv4 address")]),
    ],
)
def test_the_profile(text: str, found: list[Finding]) -> None:
    assert parse_profile(text) == found


# Arbitrary input: pieces of real files nest deeply; plain text covers the rest.
PIECES = st.sampled_from(
    ["lease {", "}", "{", ";", '"', "\\", "#", "\n", " ", "option unknown-245 ", "a8:3f:81:10", "expire never;", "expire ", "OPTION_245=", "=", "\0"]
    + ["ä", "\udc80", '{"unknown_245": "', "epoch 1e9", "4 2026/11/26 17:05:00", "a83f8110", "\u2028", "export SCHEDULEDEVENTSIP="]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=300), st.binary(max_size=300).map(lambda data: data.decode("utf-8", "replace")))


def check(findings: t.Sequence[Finding]) -> None:
    assert len(findings) <= MOST_FINDINGS
    for found in findings:
        assert (found.address is None) == bool(found.problem)
        assert found.problem.isprintable() and len(found.problem) < 200
        assert found.address is None or finding_of_address(found.address) == found


@QUICK
@given(TEXTS)
def test_any_text_is_survived(text: str) -> None:
    check(read(text))
    check(parse_profile(text))
    check([finding_of_value(text), finding_of_address(text)])


@QUICK
@given(TEXTS, st.tuples(*[st.integers(1, 126)] + [st.integers(0, 255)] * 3))
def test_a_lease_behind_any_others_is_found(before: str, numbers: tuple[int, ...]) -> None:
    # Whatever precedes it, the newest lease comes first.
    address = ".".join(map(str, numbers))
    good = lease(":".join(f"{number:x}" for number in numbers))
    assert read(before + "\n" + good)[0] == Finding(address)


def test_a_lease_that_was_not_written_to_its_end() -> None:
    assert read(lease("1:1:1:1") + lease().replace("}", "")) == [Finding("1.1.1.1")]


@pytest.mark.parametrize(
    "text",
    ['lease {\n"' + '\\"' * 120_000, "lease {\n" + '"' * 240_001, "lease {\n" * 30_000, "lease {\n" + "a8:" * 80_000, " \t" * 120_000]
    + [lease() * 2_000, "OPTION_245=" + "a8" * 120_000, "{" + '"a":1' * 40_000, '{"a":' + "9" * 240_000 + "}", lease(expire="epoch " + "9" * 200_000)]
    + ["lease {" + "x " * 120_000, "export SCHEDULEDEVENTSIP=" * 9_000, "".join(lease(f"{number % 100 + 1}:0:0:{number % 256:x}") for number in range(2_000))],
    ids=range(13),
)
def test_large_hostile_files_take_no_time(text: str) -> None:
    assert len(text) > 150_000
    began = time.process_time()
    check(read(text))
    check(parse_profile(text))
    # A tenth of it is normal. Anything that grows with the square would take minutes.
    assert time.process_time() - began < 10
