# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed before, in and after each operation on a file: a reader finds the old or the new record, never half of one."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import TEMPORARY, LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import (
    LEFTOVER_SECONDS,
    RecordStore,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    FakeHost,
    record_change,
)

KILLED = 77
OPERATIONS = ("make", "names", "read", "write_exclusive", "link", "rename", "unlink", "sync", "age")
FOUND = {"id": "1-service", "method": "service", "before": {"active": True}, "state": "found"}

# Threads of other tests' servers, blocked in accept(), hold no lock that a child could wait for.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


class DyingFiles(LocalFiles):
    """Ends the process at one cut point; each operation has one before it and one after it."""

    def __init__(self, where, cut):
        super().__init__(where)
        self.left = cut

    def point(self):
        if self.left == 0:
            os._exit(KILLED)
        self.left -= 1

    def half(self, name, content):
        """Write half of the content, without making it durable: the write itself is a cut point too."""
        if self.left == 0:
            with open(self._path(name), "wb") as stream:
                stream.write(content[: len(content) // 2])
        self.point()


def dying(operation):
    def run(self, *arguments):
        self.point()
        if operation == "write_exclusive":
            self.half(*arguments)
        result = getattr(LocalFiles, operation)(self, *arguments)
        self.point()
        return result

    return run


for _operation in OPERATIONS:
    setattr(DyingFiles, _operation, dying(_operation))


def killed_at(where, cut, action):
    """Run the action in a child that dies at the cut point; False when it ended before."""
    child = os.fork()
    if child == 0:
        try:
            action(RecordStore(DyingFiles(where, cut), FakeHost()))
        except BaseException:
            os._exit(1)
        os._exit(0)
    _pid, status = os.waitpid(child, 0)
    code = os.WEXITSTATUS(status)
    assert os.WIFEXITED(status) and code in (0, KILLED), f"cut point {cut} ended with {status}"
    return code == KILLED


def begin(records):
    records.write(EVENT, record_change(changes={"phase": "noticed"}))


def drain(records):
    records.write(EVENT, record_change(changes={"phase": "draining"}, method=FOUND))


def finish(records):
    records.write(EVENT, record_change(changes={"phase": "recovered", "undone": True}))


def leave_behind(records):
    """Return the revisions that a killed writer did not remove."""
    present = os.path.join(records.files.where, f"event-{EVENT.lower()}.3.json")
    with open(present) as stream:
        content = json.load(stream)
    for revision in (1, 2):
        with open(present.replace(".3.json", f".{revision}.json"), "w") as stream:
            json.dump(dict(content, revision=revision, phase="draining", history=content["history"][:2]), stream)


def prune(records):
    records.host.pass_time(100000)
    records.prune(86400)


# what is there before, what is done, and what a reader may find when that is cut off (None: no record)
CASES = {
    "create": ([], begin, (None, "noticed"), "noticed"),
    "change": ([begin], drain, ("noticed", "draining"), "draining"),
    "change again": ([begin, drain], finish, ("draining", "recovered"), "recovered"),
    "prune": ([begin, drain, finish], prune, ("recovered", None), None),
    "prune leftovers": ([begin, drain, finish, leave_behind], prune, ("recovered", None), None),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_kill_at_any_point_leaves_the_old_or_the_new_record(case, tmp_path):
    before, action, allowed, final = CASES[case]
    seen, cut = set(), 0
    while True:
        where = str(tmp_path / str(cut))
        healthy = RecordStore(LocalFiles(where), FakeHost())
        for earlier in before:
            earlier(healthy)
        was_killed = killed_at(where, cut, action)
        seen.add(check_reader(where, allowed))
        check_next_run(where, action, final)
        if not was_killed:
            break
        cut += 1
    assert cut > 10, "the cut points were not reached"
    assert seen == set(allowed)


def check_reader(where, allowed):
    reading = RecordStore(LocalFiles(where), FakeHost()).read_all()
    assert reading.problems == [] and reading.readable
    assert len(reading.records) <= 1
    phase = reading.records[0]["phase"] if reading.records else None
    assert phase in allowed
    if phase in ("draining", "recovered"):
        assert reading.records[0]["methods"][0]["before"] == {"active": True}
    return phase


def check_next_run(where, action, final):
    """A second writer that is not killed gets the same result; leftover files are removed a day later."""
    records = RecordStore(LocalFiles(where), FakeHost())
    action(records)
    check_reader(where, (final,))
    for name in os.listdir(where):
        if name.startswith(TEMPORARY):
            past = os.stat(os.path.join(where, name)).st_mtime - LEFTOVER_SECONDS - 10
            os.utime(os.path.join(where, name), (past, past))
    records.write("other" if final is None else EVENT, record_change(changes={"reason": "the next change"}))
    records.remove("other")
    names = os.listdir(where)
    assert not [name for name in names if name.startswith(TEMPORARY)]
    assert len(names) == (0 if final is None else 1)


def test_the_half_written_file_is_really_made(tmp_path):
    """Guards the test above: one of its cuts leaves half a temporary file."""
    sizes = set()
    for cut in range(12):
        where = str(tmp_path / str(cut))
        killed_at(where, cut, begin)
        if os.path.isdir(where):
            sizes.update(os.path.getsize(os.path.join(where, name)) for name in os.listdir(where) if name.startswith(TEMPORARY))
    assert len(sizes) >= 2, "a whole and a half temporary file"
