# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Role watch on Linux with a wrong setting: in check mode, too, it is refused by the name of the option, and no task before changes anything."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import typing as t

import pytest

WEBHOOK = {"watch_tell_url": "https://eda.example.com:5000/", "watch_tell_credential": "bearer", "watch_tell_secret": "one-secret"}


def refused(folder: pathlib.Path, settings: dict[str, t.Any]) -> str:
    # systemd is said to be there: every refusal comes before anything is asked of it.
    always = {"__watch_systemd": {"stat": {"exists": True}}, "ansible_connection": "local", "ansible_become": False}
    settings = {key: value.replace("FOLDER", str(folder)) if isinstance(value, str) else value for key, value in settings.items()}
    old = folder / "old"
    old.write_text("#!/bin/sh\necho 'Python 3.8 or newer is needed' >&2; exit 1\n")
    old.chmod(0o700)
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    (folder / "open" / "link").symlink_to(old)
    path = folder / "settings.json"
    path.write_text(json.dumps({**always, "ansible_python_interpreter": sys.executable, "watch_endpoint": "http://127.0.0.1:9", **settings}))
    done = subprocess.run(
        ["ansible-playbook", "-i", "vm,", "-e", f"@{path}", "--check", "maintenance.azure.watch"],
        env={**os.environ, "ANSIBLE_HOME": str(folder / "ansible"), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    output = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2 and "changed=0" in output and "one-secret" not in output, output[-3000:]
    return output


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"watch_tell_url": "https://x/", "watch_tell_credential": "hmac", "watch_tell_secert": "x"}, "hmac needs watch_tell_secret and watch_tell_url."),
        ({"watch_tell_url": "https://x/", "watch_tell_credential": "hmac", "watch_tell_secert": "x"}, "Did you mean watch_tell_secret?"),
        ({"watch_stat": "absent"}, "The variable watch_stat is no option of maintenance.azure. Did you mean watch_state? Nothing was changed"),
        ({**WEBHOOK, "watch_tell_credential": "none"}, "Next: set watch_tell_credential to bearer or hmac, or leave watch_tell_secret empty."),
        ({**WEBHOOK, "watch_tell_secret": "one-secret of two words"}, "watch_tell_secret must be one line of printable ASCII without blanks"),
        ({**WEBHOOK, "watch_tell_certificates": "FOLDER/none.pem"}, "none.pem, and vm has no such file. Next: put it there, or correct the path."),
        ({**WEBHOOK, "watch_tell_certificates": "FOLDER"}, "watch_tell_certificates is /"),
        (
            {**WEBHOOK, "watch_tell_client_certificate": "FOLDER/settings.json", "watch_tell_client_key": "FOLDER/none.key"},
            "none.key, and vm has no such file.",
        ),
        ({"watch_tell_folder": "FOLDER/settings.json"}, "settings.json, and that is no folder on vm. Next: give the path of a folder"),
        ({"watch_figures_folder": "FOLDER/settings.json"}, "watch_figures_folder is /"),
        ({"watch_python": "python9"}, "watch_python is python9: it does not run on this VM. Next: install Python 3.8 or newer there"),
        ({"watch_python": "FOLDER/old"}, "old: Python 3.8 or newer is needed. Next: install"),
        ({"watch_python": "FOLDER/open/link"}, "open/link, and another user could change what root runs there: "),
        ({"watch_tell_folder": "/var/tmp/news"}, "watch_tell_folder is /var/tmp/news, and the units see nothing below /home, /root"),
        ({"watch_tell_folder": "news"}, "watch_tell_folder is 'news'; it must be a whole path"),
        ({"watch_endpoint": "127.0.0.1:9"}, "watch_endpoint is '127.0.0.1:9'; it must be http://ADDRESS"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused_before_anything_is_changed(tmp_path: pathlib.Path, settings: dict[str, t.Any], words: str) -> None:
    assert words in refused(tmp_path, settings)
