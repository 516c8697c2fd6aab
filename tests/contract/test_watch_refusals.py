# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Role watch on Linux with a wrong setting: in check mode, too, it is refused by the name of the option, and no task before changes anything."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import typing as t

import pytest
from lab import warm

from ansible_collections.maintenance.azure.tests.contract.refusals import changed_and_failed, refusals

WEBHOOK = {"watch_tell_url": "https://eda.example.com:5000/", "watch_tell_credential": "bearer", "watch_tell_secret": "one-secret"}
# Settings, and what the refusal says of them. Each has a host of its own.
CASES: list[tuple[dict[str, t.Any], str]] = [
    ({"watch_tell_url": "https://x/", "watch_tell_credential": "hmac", "watch_tell_secert": "x"}, "hmac needs watch_tell_secret and watch_tell_url."),
    ({"watch_stat": "absent"}, "The variable watch_stat is no option of maintenance.azure. Did you mean watch_state? Nothing was changed"),
    ({**WEBHOOK, "watch_tell_credential": "none"}, "Next: set watch_tell_credential to bearer or hmac, or leave watch_tell_secret empty."),
    ({**WEBHOOK, "watch_tell_secret": "one-secret of two words"}, "watch_tell_secret must be one line of printable ASCII without blanks"),
    ({**WEBHOOK, "watch_tell_certificates": "FOLDER/none.pem"}, "none.pem, and HOST has no such file. Next: put it there, or correct the path."),
    ({**WEBHOOK, "watch_tell_certificates": "FOLDER"}, "watch_tell_certificates is /"),
    (
        {**WEBHOOK, "watch_tell_client_certificate": "FOLDER/settings.json", "watch_tell_client_key": "FOLDER/none.key"},
        "none.key, and HOST has no such file.",
    ),
    ({"watch_tell_folder": "FOLDER/settings.json"}, "settings.json, and that is no folder on HOST. Next: give the path of a folder"),
    ({"watch_figures_folder": "FOLDER/settings.json"}, "watch_figures_folder is /"),
    ({"watch_python": "python9"}, "watch_python is python9: it does not run on this VM. Next: install Python 3.8 or newer there"),
    ({"watch_python": "FOLDER/old"}, "old: Python 3.8 or newer is needed. Next: install"),
    ({"watch_python": "FOLDER/open/link"}, "open/link, and another user could change what root runs there: "),
    ({"watch_tell_folder": "/var/tmp/news"}, "watch_tell_folder is /var/tmp/news, and the units see nothing below /home, /root"),
    ({"watch_tell_folder": "news"}, "watch_tell_folder is 'news'; it must be a whole path"),
    ({"watch_endpoint": "127.0.0.1:9"}, "watch_endpoint is '127.0.0.1:9'; it must be http://ADDRESS"),
]


def host_of(number: int) -> str:
    return f"vm{number}"


def prepared(folder: pathlib.Path, settings: dict[str, t.Any]) -> dict[str, t.Any]:
    """The variables of a host, whose files are in this folder."""
    old = folder / "old"
    old.write_text("#!/bin/sh\necho 'Python 3.8 or newer is needed' >&2; exit 1\n")
    old.chmod(0o700)
    (folder / "settings.json").write_text("")
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    (folder / "open" / "link").symlink_to(old)
    return {key: value.replace("FOLDER", str(folder)) if isinstance(value, str) else value for key, value in settings.items()}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All that one run prints."""
    folder = tmp_path_factory.mktemp("refusals")
    hosts = {host_of(number): prepared(tmp_path_factory.mktemp("vm"), settings) for number, (settings, _words) in enumerate(CASES)}
    python = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python(), "watch_endpoint": "http://127.0.0.1:9"}
    (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": python}}))
    # systemd is said to be there: every refusal comes before anything is asked of it.
    systemd = json.dumps({"__watch_systemd": {"stat": {"exists": True}}})
    done = subprocess.run(
        ["ansible-playbook", "-i", "inventory.json", "-e", systemd, "--check", "maintenance.azure.watch"],
        env=warm.playbooks({**os.environ, "ANSIBLE_HOME": str(folder / "ansible"), "ANSIBLE_NOCOLOR": "1"}),
        cwd=folder, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout[-3000:] + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("number", range(len(CASES)), ids=[str(case) for case in CASES])
def test_a_wrong_setting_is_refused_before_anything_is_changed(printed: str, number: int) -> None:
    host = host_of(number)
    assert CASES[number][1].replace("HOST", host) in refusals(printed)[host]
    assert changed_and_failed(printed)[host] == (0, 1)


def test_a_misspelt_option_is_named_and_no_secret_is(printed: str) -> None:
    assert "Did you mean watch_tell_secret?" in " ".join(printed.split()) and "one-secret" not in printed
