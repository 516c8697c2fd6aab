# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What releases of 1.x wrote on VMs is read, and written on. The files in vectors/ were written by those releases (tests/versions/beside.py --keep)."""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.replicas import ReplicaStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.tombstones import Tombstones
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest, lease_name
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.progress_marks import ProgressMarks
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    FakeHost,
    record_change,
)

VECTORS = pathlib.Path(__file__).parent / "vectors"
EVERY = sorted(path for path in VECTORS.rglob("*.json"))
OF_KIND = {kind: [path for path in EVERY if path.name.startswith(kind)] for kind in ("event-", "mirror-", "claim-", "upgrade-", "tombstone-")}


def named(path):
    return "/".join(path.relative_to(VECTORS).parts[:3])


def each(kind):
    return pytest.mark.parametrize("path", OF_KIND[kind], ids=named)


@pytest.fixture
def host():
    # Minutes after the files were written.
    found = FakeHost()
    found.seconds = 1795484400.0
    return found


@pytest.fixture
def files(tmp_path):
    return lambda path: LocalFiles(str(shutil.copytree(path.parent, tmp_path / "records")))


def _with_kinds(methods):
    return [{"error_kind": None, "times": None, **one} for one in methods]


def test_each_kind_of_each_release_is_here():
    assert sum(map(len, OF_KIND.values())) == len(EVERY)
    found = {(path.relative_to(VECTORS).parts[0], kind) for kind, paths in OF_KIND.items() for path in paths}
    assert found >= {(version, kind) for version in ("1.3.1", "1.4.0") for kind in ("event-", "mirror-", "claim-")}
    assert ("1.3.1", "upgrade-") in found and ("1.4.0", "tombstone-") in found


@each("event-")
def test_a_record_is_read_as_it_was_written(path, files, host):
    content = json.loads(path.read_text())
    reading = RecordStore(files(path), host).read_all(content["vm_id"])
    assert reading.problems == [] and reading.readable
    (record,) = [one for one in reading.records if one["event"]["event_id"] == content["event"]["event_id"]]
    # What 1.x could not know is missing in its files: no watcher began its records, and its reasons and failures have no kind.
    written = {key: value for key, value in content.items() if key != "lineage"}
    assert record == {"watcher": None, "untold": None, "blocker": None, **written, "methods": _with_kinds(written["methods"])}


@each("event-")
def test_a_record_is_written_on(path, files, host):
    content = json.loads(path.read_text())
    store = RecordStore(files(path), host)
    change = record_change(changes={"phase": "recovered", "undone": True}, stamp=["missing_since"], vm_id=content["vm_id"])
    after = store.write(content["event"]["event_id"], change).after
    assert after["phase"] == "recovered" and after["revision"] == content["revision"] + 1
    assert after["history"][:-1] == content["history"], "what 1.x did stays in the timeline"
    assert after["methods"] == _with_kinds(content["methods"]) and after["rule"] == content["rule"]
    # A key that this version has no use for is kept: the controller beside it may be of 1.x.
    assert set(content) - {"lineage"} <= set(after)


@each("event-")
def test_a_record_of_an_unknown_format_is_refused_and_stays(path, files, host):
    content = json.loads(path.read_text())
    its = files(path)
    pathlib.Path(its.where, path.name).write_text(json.dumps(dict(content, format=99)))
    reading = RecordStore(its, host).read_all(content["vm_id"])
    assert not [one for one in reading.records if one["event"]["event_id"] == content["event"]["event_id"]]
    assert any("99" in problem for problem in reading.problems) and not reading.readable, reading.problems


@each("mirror-")
def test_of_a_replica_the_findings_outside_the_vm_are_taken(path, files, host):
    content = json.loads(path.read_text())
    (replica,) = ReplicaStore(files(path), host).read_all("78417410-50f2-5920-aa01-303ce1a52150").found
    assert (replica["vm"], replica["vm_id"]) == (content["vm"], content["vm_id"])
    wanted = [method for method in content["record"]["methods"] if method["outside"]]
    assert wanted, "a replica without anything outside is a useless vector"
    assert [(one["id"], one["method"], one["state"], one["before"]) for one in replica["record"]["methods"]] == [
        (one["id"], one["method"], one["state"], one["before"]) for one in wanted
    ]


@each("claim-")
def test_a_lease_is_seen_with_its_holder_until_its_limit(path, files, host):
    content = json.loads(path.read_text())
    _word, run, rest = path.name.split("-")
    limit = int(rest.split(".")[1])
    store = LeaseStore(files(path), host)
    host.seconds = limit / 1000.0 - 1
    (lease,) = [one for one in store.read_all().leases if one["name"] == path.name]
    assert (lease["run"], lease["who"], lease["kind"], lease["expired"]) == (run, content["who"], content["kind"], False)
    assert lease["groups"] == content["groups"] and lease["digest"] == event_digest(content["event_id"])
    # This version would write the same name.
    assert lease_name(run, content["event_id"], limit) == path.name
    host.pass_time(2)
    (lease,) = [one for one in store.read_all().leases if one["name"] == path.name]
    assert lease["expired"] is True


@each("upgrade-")
def test_a_progress_mark_counts(path, files, host):
    content = json.loads(path.read_text())
    reading = ProgressMarks(files(path), host, content["vm_id"]).read_all()
    assert reading.problems == []
    (mark,) = reading.found
    assert (mark["name"], mark["state"], mark["run"], mark["begun_at"]) == tuple(content[key] for key in ("name", "state", "run", "begun_at"))


@each("tombstone-")
def test_a_tombstone_is_read(path, files, host):
    reading = Tombstones(files(path), host).read_all()
    assert reading.problems == [] and len(reading.found) == 1
