# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run with the packages of another one must send what a run without them sends."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "code_cache"
MODULE = "from ansible_collections.some.where.plugins.module_utils.word import WORD\nfrom ansible.module_utils.basic import AnsibleModule\n"
MODULE += "AnsibleModule({}).exit_json(word=WORD)\n"


class Playbook:
    """A playbook over one module of a collection of its own, and the cache that its runs share."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.cache, self.home = folder, folder / "cache", folder / "home"
        self.plugins = folder / "tree" / "ansible_collections" / "some" / "where" / "plugins"
        for kind in ("modules", "module_utils"):
            (self.plugins / kind).mkdir(parents=True)
        (self.plugins / "modules" / "say.py").write_text(MODULE)
        self.cache.mkdir()
        (folder / "play.yml").write_text("- hosts: localhost\n  gather_facts: false\n  tasks:\n    - some.where.say:\n      register: said\n"
                                         "    - ansible.builtin.debug:\n        var: said.word\n")  # fmt: skip

    def run(self, word: str) -> str:
        (self.plugins / "module_utils" / "word.py").write_text(f"WORD = '{word}'\n")
        environment = dict(
            os.environ, PYTHONPATH=str(FOLDER), CODE_CACHE_FOLDER=str(self.cache), ANSIBLE_HOME=str(self.home),
            ANSIBLE_COLLECTIONS_PATH=str(self.folder / "tree"), ANSIBLE_NOCOLOR="1",
        )  # fmt: skip
        command = ["ansible-playbook", "-i", "localhost,", "-c", "local", "-e", "ansible_python_interpreter={{ ansible_playbook_python }}", "play.yml"]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def packages(self) -> list[pathlib.Path]:
        return sorted(self.cache.glob("modules-*/ansible_collections.some.where*"))


@pytest.fixture
def playbook(tmp_path: pathlib.Path) -> Playbook:
    return Playbook(tmp_path)


def test_a_package_is_kept_and_used_and_never_outlives_its_sources(playbook: Playbook) -> None:
    assert '"said.word": "first"' in playbook.run("first")
    (kept,) = playbook.packages()
    state = kept.stat()
    assert '"said.word": "second, and longer"' in playbook.run("second, and longer")
    old, new = sorted(playbook.packages(), key=lambda path: path.stat().st_mtime_ns)
    assert old == kept and (old.stat().st_mtime_ns, old.stat().st_size) == (state.st_mtime_ns, state.st_size)
    assert new.read_bytes() != old.read_bytes()


def test_it_is_the_kept_package_that_is_sent(playbook: Playbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the cache saves nothing, and the test before proves nothing."""
    word = playbook.plugins / "module_utils" / "word.py"
    playbook.run("first")
    (first,) = playbook.packages()
    playbook.run("other")
    other = next(path for path in playbook.packages() if path != first)
    content = first.read_bytes()
    other.unlink()
    other.write_bytes(content)
    state = word.stat()
    monkeypatch.setattr(pathlib.Path, "write_text", lambda *_given: None)
    assert '"said.word": "first"' in playbook.run("the sources are not written any more")
    assert word.stat().st_mtime_ns == state.st_mtime_ns


def test_a_run_on_another_file_system_has_copies(playbook: Playbook) -> None:
    # Linux has it everywhere; elsewhere than on Linux one file system has to do.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as elsewhere:
        playbook.home = pathlib.Path(elsewhere)
        assert not elsewhere.startswith("/dev/shm") or os.stat(elsewhere).st_dev != os.stat(playbook.cache).st_dev
        assert '"said.word": "first"' in playbook.run("first")
        assert len(playbook.packages()) == 1
        assert '"said.word": "first"' in playbook.run("first")
