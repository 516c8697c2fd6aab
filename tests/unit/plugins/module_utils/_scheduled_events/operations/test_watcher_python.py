# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python of the watcher on Linux: one that another user could change is refused before it is run."""

from __future__ import annotations

import os
import pathlib
import shutil

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import ownership
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations import watcher_python as module

FREE = "set watch_python to a Python that only root may change, such as /usr/bin/python3"


class Vm:
    """Folders of our own, and what was run in them."""

    def __init__(self, folder):
        folder.chmod(0o755)
        self.folder, self.ran = folder, []
        self.library = self.make("lib/python3", directory=True)
        self.python = self.make("usr/bin/python3")
        self.answer = None

    def make(self, name, directory=False):
        path = self.folder / name
        (path if directory else path.parent).mkdir(parents=True, exist_ok=True)
        if not directory:
            path.write_text("#!/bin/sh")
        for one in (path, *path.parents):
            if self.folder in one.parents:
                one.chmod(0o755)
        return path

    def run(self, command):
        self.ran.append(command[0])
        assert command[1:3] == ["-I", "-S"]
        return self.answer or (0, f"{self.python}\n{self.library}\n", "")

    def find(self, python=None):
        return module.find_python(str(python or self.python), self.run)

    def refusal(self, python=None):
        self.ran.clear()
        with pytest.raises(Failed) as caught:
            self.find(python)
        return caught.value.result["msg"]


@pytest.fixture
def vm(tmp_path):
    return Vm(tmp_path)


def given_away(monkeypatch, path):
    """Make a path appear to belong to another user, even if the test may not change its owner."""
    for name in ("stat", "lstat"):
        real = getattr(os, name)

        def seen(given, *more, real=real, **named):
            found = real(given, *more, **named)
            return os.stat_result([*found[:4], 12345, *found[5:10]]) if os.fspath(given) == str(path) else found

        monkeypatch.setattr(ownership.os, name, seen)


def test_one_that_only_root_and_this_user_may_change_is_found(vm, monkeypatch):
    assert vm.find() == {"executable": str(vm.python)} and vm.ran == [str(vm.python)]
    monkeypatch.setenv("PATH", str(vm.python.parent))
    assert vm.find("python3") == {"executable": str(vm.python)}
    (vm.folder / "link").symlink_to("usr/bin/../bin/python3")
    assert vm.find(vm.folder / "link") == {"executable": str(vm.python)}


@pytest.mark.parametrize(("place", "mode", "who"), [
    ("usr/bin/python3", 0o757, "any user"), ("usr/bin/python3", 0o775, "its group"), ("usr/bin", 0o775, "its group"), ("usr", 0o777, "any user"),
    (".", 0o757, "any user"),
])  # fmt: skip
def test_one_that_others_may_write_is_refused_before_it_is_run(vm, place, mode, who):
    (vm.folder / place).chmod(mode)
    said = vm.refusal()
    assert vm.ran == [] and f"(mode {mode:04o})" in said and who in said and str((vm.folder / place).resolve()) in said
    assert said.startswith(f"watch_python is {vm.python}, and another user could change what root runs there: ") and FREE in said and "chmod go-w" in said


@pytest.mark.parametrize("place", ["usr/bin/python3", "usr/bin", "usr"])
def test_one_of_another_user_is_refused(vm, monkeypatch, place):
    given_away(monkeypatch, vm.folder / place)
    said = vm.refusal()
    assert vm.ran == [] and "belongs to uid 12345" in said and str(vm.folder / place) in said and FREE in said


def test_every_link_on_the_way_is_checked(vm):
    """From a safe folder over one that others may write to a safe one: whoever may write there chooses what is run."""
    others = vm.make("home/bob", directory=True)
    (vm.folder / "safe").mkdir(mode=0o755)
    (others / "python3").symlink_to(vm.python)
    (vm.folder / "safe" / "python3").symlink_to(others / "python3")
    (vm.folder / "safe" / "folder").symlink_to("../home/bob")
    others.chmod(0o777)
    for path in ("safe/python3", "safe/folder/python3"):
        said = vm.refusal(vm.folder / path)
        assert vm.ran == [] and f"lies in {others}, which any user may write" in said
    others.chmod(0o1777)
    assert vm.find(vm.folder / "safe" / "python3")


def test_links_without_an_end_are_an_error(vm):
    (vm.folder / "a").symlink_to("b")
    (vm.folder / "b").symlink_to("a")
    assert "it does not run on this VM" in vm.refusal(vm.folder / "a")
    with pytest.raises(OSError, match="Too many levels"):
        ownership._parents_of(str(vm.folder / "a" / "python3"))


def test_the_library_and_the_program_that_it_says_it_is_are_checked_too(vm):
    vm.library.chmod(0o777)
    assert f"{vm.library} may be written by any user" in vm.refusal()
    vm.library.chmod(0o755)
    other = vm.make("other/python3")
    other.parent.chmod(0o777)
    vm.answer = (0, f"{other}\n{vm.library}\n", "")
    assert f"{other} lies in {other.parent}" in vm.refusal()


@pytest.mark.parametrize(("answer", "words"), [
    ((1, "", "Python 3.8 or newer is needed\n"), ": Python 3.8 or newer is needed. Next: install"),
    ((127, "", ""), ": it does not run on this VM. Next"),
    ((0, "one line\n", ""), ": it does not run on this VM. Next"),
])  # fmt: skip
def test_one_that_is_none_is_refused(vm, answer, words):
    vm.answer = answer
    assert words in vm.refusal()
    assert "python9: it does not run on this VM. Next: install Python 3.8" in vm.refusal("python9")


def test_root_runs_nothing_of_its_site_packages():
    """Debian's group staff may write a folder of them, and Python runs each .pth file there."""
    units = list((pathlib.Path(__file__).parents[6] / "roles/watch/templates").glob("*.service.j2"))
    assert units
    for unit in units:
        assert '}}" -I -S "' in unit.read_text(), unit.name


def test_the_python_of_this_system_is_found():
    python = shutil.which("python3", path="/usr/bin:/bin")
    code = os.stat(python)
    assert code.st_uid == 0 and ownership.check_program(python, "") is None
