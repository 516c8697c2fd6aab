# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Notification targets whose URLs have secrets, in a job: AWX keeps its events, artifacts, output and facts, and other users of a node see its processes."""

from __future__ import annotations

import json
import pathlib
import secrets
import time
import typing as t
import urllib.parse

import pytest
from lab.lab import Lab
from lab.receivers import Https, Smtp, authority

from runner.private_data import Job, Place, script_data

Make = t.Callable[..., Lab]
LIMIT = 120


def command_lines() -> dict[int, str]:
    """The command line of each process of this machine: the program that sends has a session of its own, and no parent that would lead to it."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def until(true: t.Callable[[], t.Any], job: Job) -> None:
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end, job.wait().said
        time.sleep(0.05)


@pytest.mark.parametrize(("cmdline", "status"), [("-u root", 200), ("-u root -vvv", 500)])
def test_a_job_shows_no_secret_of_a_target(make_lab: Make, place: Place, tmp_path: pathlib.Path, cmdline: str, status: int) -> None:
    known = authority(tmp_path / "authority")
    token, password = secrets.token_hex(16), f"{secrets.token_hex(12)}&/x"
    https, smtp = Https(known.server), Smtp(password)
    https.status = status
    lab = make_lab(["web1"], 1)
    # A variable of the inventory, and a variable of the environment that a credential of AWX injects.
    lab.all["vault_token"] = token
    lab.all["respond_notify"] = [
        {"name": "hook", "url": f"jsons://127.0.0.1:{https.port}/{{{{ vault_token }}}}"},
        {"name": "mail", "url": f"mailto://azure:{{env:MAIL_PASSWORD}}@127.0.0.1:{smtp.port}?from=azure@example.com&to=ops@example.com&mode=insecure"},
    ]
    lab.simulator.event("Reboot", ["web1", "stranger"], notice=36000)
    job = Job(place, lab.folder, "playbooks/respond.yml", script_data(lab.hosts, lab.all, {}))
    job.environment.update(MAIL_PASSWORD=password, REQUESTS_CA_BUNDLE=known.certificate)
    https.answers.clear()
    job.start({"respond_notify_seconds": LIMIT}, cmdline=cmdline)
    until(lambda: https.asked, job)
    lines = command_lines()
    https.answers.set()
    job.wait().good()
    https.close()
    smtp.close()
    # Both got their messages, or it would be no wonder that nothing is to be seen.
    assert set(https.asked) == {f"/{token}"} and len(smtp.got) > 0, job.output
    assert ("notification target hook was not told" in job.output and "HTTP status 500" in job.output) == (status == 500), job.output
    assert "target mail" not in job.output
    assert any(str(place.collections) in line and "notify_sender.py" in line for line in lines.values()), lines
    # What the job was given, and ansible-runner's own file with the whole environment of a job, which AWX neither stores nor shows.
    given = (job.folder / "env", job.folder / "inventory", job.folder / "artifacts" / job.ident / "command")
    kept = [path for path in lab.folder.rglob("*") if path.is_file() and not any(path.is_relative_to(folder) for folder in given)]
    names = {path.relative_to(job.folder).parts[2] for path in kept if path.is_relative_to(job.folder / "artifacts")}
    assert names >= {"job_events", "stdout", "fact_cache"}, names
    shown = "\n".join([*lines.values(), job.said, json.dumps(job.events()), *(path.read_text(errors="replace") for path in kept)])
    assert [secret for secret in (token, password, urllib.parse.quote(password, safe="")) if secret in shown] == []
