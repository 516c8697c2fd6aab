# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run with the templates that another one has compiled must print what a run without them prints."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "code_cache"
# The same text with and without escapes, with another block's line end, within a template, wrong, and with a filter of a collection.
PLAY = r"""
- hosts: all
  gather_facts: false
  vars: {word: one, inner: "{{ word }}-{{ word | upper }}", escaped: '{{ "a\tb" }}'}
  tasks:
    - ansible.builtin.debug: {msg: "{{ inner }} {% if word %}yes{% endif %} {{ word | some.where.shout }}"}
    - ansible.builtin.debug: {msg: "{{ escaped }} {{ lookup('ansible.builtin.template', 'file.j2') }}"}
    - ansible.builtin.debug: {msg: "{{ [1, 2] | map('some.where.shout') | list }}"}
      loop: "{{ [word, inner] }}"
    - ansible.builtin.debug: {msg: "{{ word | no_such_filter }}"}
      ignore_errors: true
    - ansible.builtin.debug: {msg: "{{ word", when: true}
      ignore_errors: true
"""
PLAIN = "def shout(text):\n    return 'plain %s!' % text\n"
WITH_CONTEXT = "import jinja2\n\n\n@jinja2.pass_context\ndef shout(context, text):\n    return '%s %s!' % (context.resolve('word'), text)\n"
FILTERS = "\n\nclass FilterModule:\n    def filters(self):\n        return {'shout': shout}\n"


class Playbook:
    """A playbook with a filter of a collection of its own, and the cache that its runs share."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        self.filter = folder / "tree" / "ansible_collections" / "some" / "where" / "plugins" / "filter" / "shout.py"
        self.filter.parent.mkdir(parents=True)
        self.cache.mkdir()
        (folder / "play.yml").write_text(PLAY)
        (folder / "file.j2").write_text('{{ escaped }} {{ "a\\tb" }}\n{% if word %}\n{{ word }}\n{% endif %}\n')
        self.source(PLAIN)

    def source(self, text: str) -> None:
        self.filter.write_text(text + FILTERS)

    def run(self, **cache: str) -> str:
        environment = dict(os.environ, PYTHONPATH=str(FOLDER), ANSIBLE_HOME=str(self.folder / "home"), ANSIBLE_NOCOLOR="1", **cache)
        environment["ANSIBLE_COLLECTIONS_PATH"] = str(self.folder / "tree")
        if not cache:
            del environment["CODE_CACHE_FOLDER"]
        command = ["ansible-playbook", "-i", "localhost,", "-c", "local", "play.yml"]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
        return done.stdout + re.sub(r"\[WARNING\].*", "", done.stderr)

    def cached(self) -> str:
        return self.run(CODE_CACHE_FOLDER=str(self.cache))

    def kept(self) -> int:
        return len(list(self.cache.glob("templates-*/*")))


@pytest.fixture
def playbook(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Playbook:
    monkeypatch.setenv("CODE_CACHE_FOLDER", str(tmp_path / "none"))
    return Playbook(tmp_path)


def test_what_is_printed_is_the_same_and_a_changed_filter_counts(playbook: Playbook) -> None:
    wanted = playbook.run()
    assert "one-ONE yes plain one!" in wanted and "no_such_filter" in wanted and "failed=0" in wanted, wanted
    assert playbook.cached() == wanted
    kept = playbook.kept()
    assert kept > 5
    assert playbook.cached() == wanted and playbook.kept() == kept, "a second run compiles nothing"
    playbook.source(WITH_CONTEXT)
    changed = playbook.run()
    assert "one-ONE yes one one!" in changed
    assert playbook.cached() == changed and playbook.kept() > kept
