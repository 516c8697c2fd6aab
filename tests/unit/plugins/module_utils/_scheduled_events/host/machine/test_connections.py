# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections are counted on real sockets."""

from __future__ import annotations

import socket
import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.connections import LocalConnections

CONNECTIONS = LocalConnections()


@pytest.fixture(params=["127.0.0.1", "::1"])
def listener(request):
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        with socket.create_server((request.param, 0), family=family) as server:
            yield server
    except OSError:
        pytest.skip("this machine has no such address")


def counted(port, wanted):
    """Return the count, as soon as it is the wanted one."""
    for _attempt in range(100):
        if CONNECTIONS.count([port]) == wanted:
            break
        time.sleep(0.02)
    return CONNECTIONS.count([port])


def test_only_what_carries_something_for_a_client_counts(listener):
    port = listener.getsockname()[1]
    assert CONNECTIONS.count([port]) == 0  # listening is no connection
    with socket.create_connection(listener.getsockname()[:2]) as client:
        server, _address = listener.accept()
        assert counted(port, 1) == 1
        with socket.create_connection(listener.getsockname()[:2]):
            assert counted(port, 2) == 2
        assert CONNECTIONS.count([client.getsockname()[1], port]) >= 2
        assert CONNECTIONS.count([1 if port != 1 else 2]) == 0
        assert CONNECTIONS.count([]) == 0
        client.shutdown(socket.SHUT_WR)
        # The client has ended its half: what the server still sends counts, until the server closes.
        assert counted(port, 2) == 2
        server.close()
    listener.accept()[0].close()
    assert counted(port, 0) == 0


def test_a_table_that_cannot_be_read_is_no_empty_one(tmp_path):
    with pytest.raises(OSError, match="cannot be read"):
        LocalConnections([str(tmp_path / "none")]).count([80])
    (tmp_path / "empty").write_text("")
    with pytest.raises(OSError, match="cannot be read"):
        LocalConnections([str(tmp_path / "empty")]).count([80])


HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


@pytest.mark.parametrize(
    "state,busy",
    [("01", 1), ("02", 0), ("03", 1), ("04", 1), ("05", 0), ("06", 0), ("07", 0), ("08", 1), ("09", 0), ("0A", 0), ("0B", 0), ("0C", 1)],
)
def test_states_of_the_kernel(tmp_path, state, busy):
    (tmp_path / "tcp").write_text(HEADER + f"   0: 0100007F:01BB 0100007F:D2F0 {state} 00000000:00000000 00:00000000 00000000     0        0 1 1\n")
    table = LocalConnections([str(tmp_path / "tcp"), str(tmp_path / "none")])
    assert (table.count([443]), table.count([0x1BBB]), table.count([0xD2F0])) == (busy, 0, 0)


@pytest.mark.parametrize("line", ["", "x", "0: a b 01", "0: 1:ZZZZ b 01", "0: 0100007F: b 01", "\udc80\udcff"])
def test_odd_lines_count_nothing(tmp_path, line):
    (tmp_path / "tcp").write_text(HEADER + line + "\n", encoding="utf-8", errors="surrogateescape")
    assert LocalConnections([str(tmp_path / "tcp")]).count([1, 443]) == 0
