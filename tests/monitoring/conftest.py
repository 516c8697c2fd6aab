# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics of one VM, written by the collection's own code, and a small HTTP server that serves them as node_exporter would."""

from __future__ import annotations

import http.server
import pathlib
import sys
import threading
import time
import typing as t
from collections.abc import Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost, utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import flag_own, parse_document
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.metrics import WatchMetrics
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.state import State
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.record_metrics import RecordMetrics
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder
from ansible_collections.maintenance.azure.tests.unit.plugins.support import document, raw_event

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Metrics:
    """The folder of node_exporter on one VM."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.state = State(SharedFolder(str(folder)), LocalHost())
        self.warnings: list[str] = []

    def listed(self, *events: t.Any) -> None:
        read = parse_document(document(1, *events), "2020-07-01")
        flag_own(read.events, "vm_0")
        self.state.answered(read.incarnation, read.events)

    def write(self) -> None:
        WatchMetrics(str(self.folder), LocalHost(), self.warnings.append).write(self.state.values)
        assert self.warnings == []

    def record(self, *histories: t.Sequence[tuple[str, float]], not_before: float = 3600) -> None:
        """Write records: phases with their seconds from now, and NotBefore likewise."""
        now, records = time.time(), []
        for number, history in enumerate(histories):
            record = empty_record(f"E{number}")
            record["history"] = [{"phase": phase, "at": utc_text(now + seconds)} for phase, seconds in history]
            record["phase"] = history[-1][0]
            record["event"]["not_before"] = utc_text(now + not_before)
            records.append(record)
        RecordMetrics(str(self.folder)).write(records, utc_text(now))

    def text(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("*.prom")))


@pytest.fixture
def metrics(tmp_path: pathlib.Path) -> Metrics:
    return Metrics(tmp_path / "metrics")


@pytest.fixture
def busy(metrics: Metrics) -> Metrics:
    """Every metric has a value."""
    soon = utc_text(time.time() + 600)
    others = [raw_event(EventId="E2", EventType="Upgrade", NotBefore=soon), raw_event(EventId="E3", Resources=["vm_1"])]
    metrics.listed(raw_event(NotBefore=soon), *others)
    metrics.write()
    metrics.record([("draining", -90), ("drained", -60)], [("noticed", -60), ("held", -30)], [("noticed", -9)])
    return metrics


@pytest.fixture
def served(metrics: Metrics) -> Iterator[str]:
    """The address of a server that serves all files of the folder."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = metrics.text()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_unused: t.Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
