# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flag files come back byte for byte, and what is no flag is refused."""

from __future__ import annotations

import base64
import contextlib
import os
import stat
import threading
import types

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


# --- A folder in which a local user may put anything in the place of anything at any moment --------------------------------

SECRET = b"root:$6$salt$hash"


def swapped(monkeypatch, call, change):
    """Make a change right before the first call of a function of the system that is about the flag itself."""
    real, left = getattr(os, call), [change]

    def first_change(path, *rest, **keys):
        if left and os.path.basename(os.fsdecode(path)) == "ready":
            left.pop()()
        return real(path, *rest, **keys)

    monkeypatch.setattr(os, call, first_change)


@pytest.fixture
def secret(tmp_path):
    """A file of root's outside the folder, and the folder of a local user with a flag."""
    (tmp_path / "shadow").write_bytes(SECRET)
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "ready").write_bytes(b"ok")
    return tmp_path / "shadow"


def in_place_of(flag, make):
    def swap():
        flag.unlink()
        make(flag)

    return swap


def within(seconds, work):
    """What came of some work, as its error or its result; it fails the test where it hangs."""
    found = []

    def run():
        try:
            found.append(work())
        except OSError as error:
            found.append(error)
        except FlagFileError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it hangs"
    return found[0]


def test_a_link_that_takes_the_place_of_the_file_is_not_followed(secret, tmp_path, monkeypatch):
    flag = tmp_path / "www" / "ready"
    swapped(monkeypatch, "open", in_place_of(flag, lambda path: os.symlink(secret, path)))
    with pytest.raises(OSError):
        FLAGS.describe(str(flag))


def test_what_was_swapped_in_before_is_a_link_and_its_target_is_never_read(secret, tmp_path, monkeypatch):
    flag = tmp_path / "www" / "ready"
    swapped(monkeypatch, "stat", in_place_of(flag, lambda path: os.symlink(secret, path)))
    found = FLAGS.describe(str(flag))
    assert (found["kind"], base64.b64decode(found["content"])) == ("link", os.fsencode(secret))


def test_a_pipe_that_takes_the_place_of_the_file_is_no_flag_and_blocks_nothing(secret, tmp_path, monkeypatch):
    flag = tmp_path / "www" / "ready"
    swapped(monkeypatch, "open", in_place_of(flag, os.mkfifo))
    found = within(5, lambda: FLAGS.describe(str(flag)))
    assert isinstance(found, FlagFileError) and "is not a file" in str(found)


def test_mode_and_owner_are_those_of_the_file_that_was_read(secret, tmp_path, monkeypatch):
    flag = tmp_path / "www" / "ready"
    flag.chmod(0o644)

    def another(path):
        path.write_bytes(b"new")
        path.chmod(0o600)

    swapped(monkeypatch, "open", in_place_of(flag, another))
    found = FLAGS.describe(str(flag))
    assert (found["mode"], base64.b64decode(found["content"])) == ("600", b"new")


def test_a_folder_that_is_another_by_now_gets_nothing(secret, tmp_path, monkeypatch):
    flag, elsewhere = tmp_path / "www" / "ready", tmp_path / "etc"
    elsewhere.mkdir()
    found = FLAGS.describe(str(flag))
    real = os.replace

    def swap_and_replace(*names, **keys):
        (tmp_path / "www").rename(tmp_path / "moved")
        os.symlink(elsewhere, tmp_path / "www")
        real(*names, **keys)

    monkeypatch.setattr(os, "replace", swap_and_replace)
    FLAGS.restore(str(flag), found)
    assert os.listdir(elsewhere) == [] and (tmp_path / "moved" / "ready").read_bytes() == b"ok"


def test_what_is_written_never_lands_in_another_file(secret, tmp_path, monkeypatch):
    """A link in the place of the file that is being written: the file that it names keeps its content, its owner and its mode."""
    flag, before = tmp_path / "www" / "ready", picture(secret)
    found = FLAGS.describe(str(flag))
    real = os.fsync

    def swap(descriptor):
        (beside,) = [name for name in os.listdir(flag.parent) if "maintenance" in name]
        (flag.parent / beside).unlink()
        os.symlink(secret, flag.parent / beside)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", swap)
    FLAGS.restore(str(flag), found)
    assert picture(secret) == before and os.readlink(flag) == str(secret)


def test_while_a_user_swaps_it_all_the_time_nothing_of_another_file_is_read_or_written(secret, tmp_path):
    flag, over, before = tmp_path / "www" / "ready", threading.Event(), picture(secret)

    def swap():
        beside = flag.with_name("theirs")
        while not over.is_set():
            for make in (lambda: os.symlink(secret, beside), lambda: beside.write_bytes(b"ok"), lambda: os.mkfifo(beside)):
                make()
                os.replace(beside, flag)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _time in range(300):
            with contextlib.suppress(OSError, FlagFileError):
                found = FLAGS.describe(str(flag))
                assert base64.b64decode(found["content"]) in (b"", b"ok", os.fsencode(secret)), found
                assert found["kind"] != "file" or base64.b64decode(found["content"]) != os.fsencode(secret)
                FLAGS.restore(str(flag), found)
    finally:
        over.set()
        thread.join()
    assert picture(secret) == before


@pytest.mark.parametrize("links,of_another,refused", [(2, False, False), (1, True, False), (2, True, True)])
def test_a_file_with_several_links_is_refused_only_where_its_folder_has_another_owner(secret, tmp_path, monkeypatch, links, of_another, refused):
    flag, real = tmp_path / "www" / "ready", os.fstat
    flag.unlink()
    os.link(secret, flag)
    if links == 1:
        secret.unlink()

    def owned(descriptor):
        about = real(descriptor)
        fields = {name: getattr(about, name) for name in dir(about) if name.startswith("st_")}
        is_folder = stat.S_ISDIR(about.st_mode)
        return types.SimpleNamespace(**{**fields, "st_uid": ANOTHER_USER if is_folder and of_another else 0})

    monkeypatch.setattr(os, "fstat", owned)
    if refused:
        with pytest.raises(FlagFileError, match="one with 2 links whose folder has another owner"):
            FLAGS.describe(str(flag))
    else:
        assert base64.b64decode(FLAGS.describe(str(flag))["content"]) == SECRET


def test_a_path_that_ends_with_a_slash_is_a_folder(tmp_path):
    with pytest.raises(FlagFileError, match="is not a file"):
        FLAGS.describe(f"{tmp_path}/")
    assert FLAGS.describe(f"{tmp_path}/none/")["kind"] == "absent"
