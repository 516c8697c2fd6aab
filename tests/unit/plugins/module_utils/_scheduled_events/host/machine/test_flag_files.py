# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flag files come back byte for byte, and what is no flag is refused."""

from __future__ import annotations

import base64
import contextlib
import os
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.flag_files import LARGEST, FlagFileError, LocalFlagFiles

FLAGS = LocalFlagFiles()
ANOTHER_USER = 65534


@contextlib.contextmanager
def without_root(folder):
    """Act in a folder as a user who is not root."""
    root, before = os.geteuid() == 0, os.getcwd()
    # The folders above it may be root's alone: work from inside.
    os.chdir(folder)
    if root:
        os.chown(folder, ANOTHER_USER, -1)
        os.seteuid(ANOTHER_USER)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        os.chdir(before)


def picture(path):
    """Return all that can be read of a file."""
    if not os.path.lexists(path):
        return None
    about = os.lstat(path)
    content = os.readlink(path) if stat.S_ISLNK(about.st_mode) else path.read_bytes()
    mode = None if stat.S_ISLNK(about.st_mode) else stat.S_IMODE(about.st_mode)
    return content, mode, about.st_uid, about.st_gid


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o4755, 0o000])
@pytest.mark.parametrize("content", [b"", b"ok\n", bytes(range(256)), b"x" * LARGEST])
def test_a_file_comes_back_as_it_was(tmp_path, mode, content):
    flag = tmp_path / "ready"
    flag.write_bytes(content)
    flag.chmod(mode | 0o400 if os.geteuid() else mode)
    before, found = picture(flag), FLAGS.describe(str(flag))
    assert all(isinstance(value, str) for value in found.values())
    FLAGS.remove(str(flag))
    assert not FLAGS.exists(str(flag))
    FLAGS.restore(str(flag), found)
    assert picture(flag) == before
    assert os.listdir(tmp_path) == ["ready"]


def test_its_owner_comes_back(tmp_path, monkeypatch):
    flag, given = tmp_path / "ready", []
    flag.touch()
    found = FLAGS.describe(str(flag))
    assert (found["owner"], found["group"]) == (str(flag.stat().st_uid), str(flag.stat().st_gid))
    FLAGS.remove(str(flag))
    if os.geteuid() != 0:
        # Only root gives files away: what the system is asked for counts.
        monkeypatch.setattr(os, "fchown", lambda descriptor, *owner: given.append((*owner, flag.exists())))
    FLAGS.restore(str(flag), {**found, "owner": "1234", "group": "2345"})
    assert given == ([] if os.geteuid() == 0 else [(1234, 2345, False)])
    assert given or (flag.stat().st_uid, flag.stat().st_gid) == (1234, 2345)


def test_without_root_it_does_not_come_back_with_another_owner(tmp_path):
    with without_root(tmp_path):
        with pytest.raises(PermissionError):
            FLAGS.restore("ready", {**FILE, "owner": "1234"})
        assert os.listdir(".") == []


def test_without_root_every_bit_of_the_mode_comes_back(tmp_path):
    with without_root(tmp_path):
        FLAGS.restore("ready", {**FILE, "mode": "4755", "owner": str(os.geteuid()), "group": str(os.getegid())})
        assert stat.S_IMODE(os.stat("ready").st_mode) == 0o4755


def test_what_cannot_be_read_is_not_set_aside(tmp_path):
    with without_root(tmp_path):
        descriptor = os.open("ready", os.O_CREAT, 0o000)
        os.close(descriptor)
        with pytest.raises(PermissionError):
            FLAGS.describe("ready")
        assert os.listdir(".") == ["ready"]


@pytest.mark.parametrize("target", ["nowhere", "/etc/hostname", "with blank", "\udcff"])
def test_a_link_comes_back_and_is_not_followed(tmp_path, target):
    flag = tmp_path / "ready"
    os.symlink(target, flag)
    found = FLAGS.describe(str(flag))
    assert found["kind"] == "link" and FLAGS.exists(str(flag))
    FLAGS.remove(str(flag))
    FLAGS.restore(str(flag), found)
    FLAGS.restore(str(flag), found)
    assert os.readlink(flag) == target and os.listdir(tmp_path) == ["ready"]


def test_restore_replaces_a_file_created_meanwhile(tmp_path):
    flag = tmp_path / "ready"
    flag.write_text("old")
    found = FLAGS.describe(str(flag))
    flag.unlink()
    os.symlink(tmp_path / "victim", flag)
    (tmp_path / "victim").write_text("untouched")
    FLAGS.restore(str(flag), found)
    assert (flag.read_text(), flag.is_symlink(), (tmp_path / "victim").read_text()) == ("old", False, "untouched")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.integers(0, 0o777))
def test_any_content_and_mode_come_back(tmp_path, content, mode):
    flag = tmp_path / "ready"
    FLAGS.remove(str(flag))
    flag.write_bytes(content)
    flag.chmod(mode | 0o400)
    before, found = picture(flag), FLAGS.describe(str(flag))
    FLAGS.remove(str(flag))
    FLAGS.restore(str(flag), found)
    assert picture(flag) == before


def test_what_is_absent_is_described_and_may_be_removed(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "no" / "folder", tmp_path / "file" / "below"):
        assert FLAGS.describe(str(path))["kind"] == "absent"
        assert not FLAGS.exists(str(path))
        FLAGS.remove(str(path))


def test_what_is_no_flag_is_refused(tmp_path):
    with pytest.raises(FlagFileError, match="is not a file"):
        FLAGS.describe(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FlagFileError, match="is not a file"):
        FLAGS.describe(str(tmp_path / "pipe"))
    (tmp_path / "large").write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(FlagFileError, match="more than 65536 bytes"):
        FLAGS.describe(str(tmp_path / "large"))
    with pytest.raises(OSError):
        FLAGS.remove(str(tmp_path))


@pytest.mark.parametrize("mode,found", [("0644", 0o644), ("600", 0o600), ("0777", 0o777)])
def test_a_flag_is_created_with_its_mode_whatever_the_umask(tmp_path, mode, found):
    flag = tmp_path / "out"
    before = os.umask(0o077)
    try:
        FLAGS.create(str(flag), mode)
    finally:
        os.umask(before)
    assert (stat.S_IMODE(flag.stat().st_mode), flag.read_bytes()) == (found, b"")
    assert os.listdir(tmp_path) == ["out"]


def test_what_is_there_already_is_not_created(tmp_path):
    flag = tmp_path / "out"
    flag.write_text("theirs")
    FLAGS.create(str(flag), "0600")
    assert flag.read_text() == "theirs"
    os.symlink("nowhere", tmp_path / "link")
    FLAGS.create(str(tmp_path / "link"), "0600")
    assert os.readlink(tmp_path / "link") == "nowhere"


def test_a_leftover_of_a_killed_writer_blocks_no_other(tmp_path):
    flag = tmp_path / "out"
    os.symlink(tmp_path / "victim", f"{flag}.maintenance.{os.getpid()}")
    FLAGS.create(str(flag), "0644")
    assert os.listdir(tmp_path) == ["out"] and not flag.is_symlink()


FILE = {"kind": "file", "mode": "644", "owner": str(os.geteuid()), "group": str(os.getegid()), "content": base64.b64encode(b"x").decode()}


@pytest.mark.parametrize(
    "change",
    [{"content": "%%%"}, {"content": None}, {"mode": "9"}, {"mode": ""}, {"mode": "7" * 30}, {"owner": "root"}, {"owner": "9" * 30}]
    + [{"kind": "link", "content": base64.b64encode(b"a\0b").decode()}, {"kind": "link", "content": "\u20ac"}],
)
def test_what_is_no_finding_is_refused_and_leaves_nothing_behind(tmp_path, change):
    flag = tmp_path / "ready"
    with pytest.raises(FlagFileError, match="cannot be restored"):
        FLAGS.restore(str(flag), {**FILE, **change})
    assert os.listdir(tmp_path) == []
    with pytest.raises(FlagFileError):
        FLAGS.restore(str(flag), {})


def test_a_folder_that_has_taken_its_place_stays(tmp_path):
    flag = tmp_path / "ready"
    (flag / "below").mkdir(parents=True)
    for found in (FILE, {**FILE, "kind": "link"}):
        with pytest.raises(OSError):
            FLAGS.restore(str(flag), found)
        assert os.listdir(tmp_path) == ["ready"]


def test_what_cannot_be_looked_at_is_not_absent(tmp_path):
    with pytest.raises(ValueError):
        FLAGS.exists(str(tmp_path / "a\0b"))
    with pytest.raises(OSError):
        FLAGS.exists(str(tmp_path / ("x" * 300)))
    os.symlink("loop", tmp_path / "loop")
    with pytest.raises(OSError):
        FLAGS.exists(str(tmp_path / "loop" / "below"))
