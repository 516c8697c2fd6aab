# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method probe_file, with a real file and real connections."""

from __future__ import annotations

import os
import pathlib
import socket
import stat

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.probe_file import ProbeFileMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_seconds, utc_text
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, step


@pytest.fixture
def flag(tmp_path):
    return tmp_path / "ready"


def probe(flag, **options):
    return step("probe_file", given={"path": str(flag), "interval": 0, **options})


def later(vm, seconds):
    """The VM's clock, so much later."""
    vm.machine = vm.machine._replace(now=lambda: utc_text(utc_seconds(vm.host.now()) + seconds))


def test_the_file_is_removed_and_put_back_as_it_was(vm, flag):
    flag.write_bytes(b"\x00ok\n")
    flag.chmod(0o640)
    assert vm.drain(probe(flag)).state == "drained"
    assert not flag.exists()
    assert vm.undo(probe(flag)).state == "undone"
    assert (flag.read_bytes(), stat.S_IMODE(flag.stat().st_mode)) == (b"\x00ok\n", 0o640)


def test_the_file_is_created_and_removed(vm, flag):
    assert vm.drain(probe(flag, present_means="out", mode="0600")).state == "drained"
    assert stat.S_IMODE(flag.stat().st_mode) == 0o600
    assert vm.undo(probe(flag)).state == "undone"
    assert not flag.exists()


def test_a_file_that_stood_in_the_other_position_is_left_there(vm, flag, tmp_path):
    assert vm.drain(probe(flag)).state == "drained"  # out of service already
    assert vm.undo(probe(flag)).state == "undone" and not flag.exists()


def test_a_file_that_said_out_already_stays(vm, flag):
    flag.write_text("by a person")
    assert vm.drain(probe(flag, present_means="out")).state == "drained"
    assert vm.undo(probe(flag)).state == "undone"
    assert flag.read_text() == "by a person"


def test_killed_after_it_was_removed_its_content_is_still_known(vm, flag, monkeypatch):
    flag.write_text("content")
    remove = vm.machine.flag_files.remove

    def remove_and_be_killed(path):
        remove(path)
        raise Killed

    monkeypatch.setattr(vm.machine.flag_files, "remove", remove_and_be_killed)
    with pytest.raises(Killed):
        vm.drain(probe(flag))
    monkeypatch.undo()
    assert not flag.exists()
    assert vm.drain(probe(flag)).state == "drained"
    assert vm.undo(probe(flag)).state == "undone" and flag.read_text() == "content"


def test_the_load_balancer_is_waited_for_and_only_once(vm, flag):
    flag.touch()
    patient = probe(flag, interval=5, threshold=2)
    outcome = vm.drain(patient)
    assert outcome.state == "draining" and outcome.error.endswith(("10 s to wait", "11 s to wait"))
    later(vm, 9.5)
    assert vm.drain(patient).state == "draining"
    later(vm, 12)
    assert vm.drain(patient).state == "drained"
    later(vm, 0)
    vm.boot = "boot-2"
    assert vm.drain(patient).state == "drained"


def test_a_clock_that_went_back_waits_longer_and_never_less(vm, flag):
    flag.touch()
    patient = probe(flag, interval=5, threshold=2)
    vm.drain(patient)
    later(vm, -100)
    assert "111 s to wait" in vm.drain(patient).error or "110 s" in vm.drain(patient).error


def test_a_record_without_its_time_fails_and_begins_again(vm, flag):
    flag.touch()
    patient = probe(flag, interval=5, threshold=2)
    vm.drain(patient)
    vm.damage(lambda data: data["methods"][0].update(at="yesterday"))
    outcome = vm.drain(patient)
    assert outcome.state == "failed" and "since when" in outcome.error
    assert vm.drain(patient).state == "draining"
    later(vm, 12)
    assert vm.drain(patient).state == "drained"


def test_a_file_that_comes_back_is_removed_again_and_waited_for_again(vm, flag):
    flag.write_text("first")
    patient = probe(flag, interval=5, threshold=2)
    vm.drain(patient)
    later(vm, 12)
    assert vm.drain(patient).state == "drained"
    later(vm, 0)
    flag.write_text("by a deployment")
    assert vm.drain(patient).state == "draining" and not flag.exists()
    assert vm.undo(patient).state == "undone" and flag.read_text() == "first"


def unused_server():
    """Listen on a port that no other connection of this machine has: a client may have been given the same number."""
    while True:
        server = socket.create_server(("127.0.0.1", 0))
        ending = f":{server.getsockname()[1]:04X}"
        lines = [line.split() for table in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()]
        # Its own line, as it listens, is one.
        if sum(fields[1].endswith(ending) for fields in lines) == 1:
            return server
        server.close()


def test_open_connections_are_waited_for(vm, flag):
    flag.touch()
    with unused_server() as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            taken, _address = server.accept()
            outcome = vm.drain(probe(flag, ports=[str(port), 1]))
            assert outcome[:2] == ("draining", f"1 connection(s) open on port(s) {port}, 1")
            taken.close()
            client.close()
    assert vm.drain(probe(flag, ports=[port])).state == "drained"


def test_a_table_of_connections_that_cannot_be_read_is_the_failure(vm, flag, tmp_path):
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.connections import LocalConnections

    flag.touch()
    vm.machine = vm.machine._replace(connections=LocalConnections([str(tmp_path / "none")]))
    outcome = vm.drain(probe(flag, ports=[443]))
    assert outcome.state == "failed" and "cannot be read" in outcome.error


def test_what_is_no_flag_is_refused_before_anything_is_done(vm, flag):
    flag.mkdir()
    outcome = vm.drain(probe(flag))
    assert outcome.state == "failed" and "is not a file" in outcome.error
    assert vm.entry("1-probe_file")["before"] is None


@pytest.mark.parametrize(
    "options", [{"path": 5}, {"path": "a\0b"}, {"present_means": "sideways"}, {"ports": "443"}, {"ports": ["http"]}, {"interval": "soon"}, {"interval": None}]
)
def test_damaged_options_are_a_failure(vm, flag, options):
    flag.touch()
    vm.drain(probe(flag, interval=1))
    vm.damage(lambda data: data["methods"][0]["options"].update({"interval": 0, **options}))
    assert vm.drain(probe(flag)).state == "failed"
    assert os.path.exists(flag) is False


def test_a_folder_that_is_gone_fails_the_undo_and_not_more(vm, tmp_path):
    (tmp_path / "www").mkdir()
    flag = tmp_path / "www" / "ready"
    flag.touch()
    vm.drain(probe(flag))
    (tmp_path / "www").rmdir()
    outcome = vm.undo(probe(flag))
    assert outcome.state == "failed" and "No such file" in outcome.error
    (tmp_path / "www").mkdir()
    assert vm.undo(probe(flag)).state == "undone" and flag.exists()


def test_without_settings_two_probes_of_five_seconds_are_waited_for_and_no_port(vm, flag):
    flag.touch()
    usual = step("probe_file", given={"path": str(flag)})
    moment = utc_seconds(vm.host.now())
    vm.host.now = lambda: utc_text(moment)
    vm.machine = vm.machine._replace(now=lambda: utc_text(moment))
    assert vm.drain(usual)[:2] == ("draining", "the load balancer may not have noticed yet, 11 s to wait")
    for passed, left in ((1, 10), (9.5, 1), (10, 1)):
        vm.machine = vm.machine._replace(now=lambda passed=passed: utc_text(moment + passed))
        assert vm.drain(usual).error == f"the load balancer may not have noticed yet, {left} s to wait"
    vm.machine = vm.machine._replace(now=lambda: utc_text(moment + 10.5))
    assert vm.drain(usual).state == "drained"


def test_a_created_file_may_be_read_by_a_web_server_where_no_mode_is_set(vm, flag):
    assert vm.drain(step("probe_file", given={"path": str(flag), "interval": 0, "present_means": "out"})).state == "drained"
    assert stat.S_IMODE(flag.stat().st_mode) == 0o644


def test_check_mode_says_what_would_become_of_the_file(vm, flag):
    out = probe(flag, present_means="out")
    assert vm.would(probe(flag)) == [f"{flag} is not there: nothing to do"] and vm.would(out) == [f"would create {flag}"]
    flag.write_text("ok")
    assert vm.would(probe(flag)) == [f"would take {flag} away"] and vm.would(out) == [f"{flag} is there: nothing to do"]
    assert flag.read_text() == "ok"


def test_only_a_file_that_was_there_or_is_created_proves_that_the_vm_is_out(flag):
    doubt = ProbeFileMethod().doubt
    given = {"path": str(flag)}
    absent = f"{flag} is not there: is path right? If so, set may_be_absent: true"
    assert doubt({"kind": "absent"}, given) == doubt({"kind": "absent"}, {**given, "present_means": "in", "may_be_absent": "false"}) == absent
    assert doubt({"kind": "absent"}, {**given, "may_be_absent": "yes"}) is None
    for kind in ("file", "link"):
        assert doubt({"kind": kind}, given) == ""
    for kind in ("absent", "file"):
        assert doubt({"kind": kind}, {**given, "present_means": "out"}) == ""


def test_check_mode_says_what_proves_nothing(vm, flag):
    assert vm.preview(probe(flag)).doubts == [f"{flag} is not there: is path right? If so, set may_be_absent: true"]
    assert vm.preview(probe(flag), step("command", identifier="2-command", given={})).doubts[1:] == [None]
    flag.touch()
    assert vm.preview(probe(flag)).doubts == [""]
    # What the drain has found, and not what it has left.
    vm.drain(probe(flag))
    assert not flag.exists() and vm.preview(probe(flag)).doubts == [""]
    # Not known yet: it is refused by its own reason.
    assert vm.preview(probe(flag.parent / "no" / "folder", present_means="out")).doubts == [""]


@pytest.mark.parametrize("made", [lambda folder: None, lambda folder: folder.touch(), lambda folder: folder.symlink_to("nowhere")])
def test_a_file_to_be_created_in_a_folder_that_is_not_there_is_refused_before_anything_is_done(vm, tmp_path, made):
    made(tmp_path / "wwww")
    flag = tmp_path / "wwww" / "out"
    text = f"{flag} cannot be created, because its folder is not there: correct path, or make the folder"
    assert vm.preview(probe(flag, present_means="out")).refused == [f"1-probe_file: {text}"]
    outcome = vm.drain(probe(flag, present_means="out"))
    assert (outcome.state, outcome.error) == ("failed", f"1-probe_file: {text}") and vm.entry("1-probe_file")["before"] is None
    # Of one that is to be taken away nothing is changed.
    assert vm.preview(probe(flag)).refused == []


def test_a_relative_path_and_a_folder_behind_a_link_are_there(vm, tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "www").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    assert vm.drain(probe("out", present_means="out")).state == "drained" and (tmp_path / "out").exists()
    assert vm.preview(probe(tmp_path / "www" / "out", present_means="out")).refused == []
