# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A VM that release 1.3.1 drained and approved is put back by what its record says. (The releases themselves at work: tests/versions.)"""

from __future__ import annotations

import datetime
import json
import pathlib
import re
import typing as t

from lab.lab import Lab

Make = t.Callable[..., Lab]
VECTORS = pathlib.Path(__file__).resolve().parents[1] / "unit/plugins/module_utils/_scheduled_events/journal/vectors"
TIME = re.compile(r"2026-11-24T[0-9:.]+Z")
FORM = "%Y-%m-%dT%H:%M:%S.%f%z"


def leave_what_1x_wrote(lab: Lab, version: str) -> None:
    """Records and replicas as that release left them a minute ago, at the places of this lab."""
    files = sorted((VECTORS / version / "approved").rglob("*.json"))
    assert {path.name.split("-")[0] for path in files} == {"event", "mirror"}
    (last,) = [json.loads(path.read_text())["history"][-1]["at"] for path in files if path.name.startswith("event-")]
    later = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=1) - datetime.datetime.strptime(last, FORM)

    def moved(found: re.Match[str]) -> str:
        form = FORM if "." in found.group() else FORM.replace(".%f", "")
        return (datetime.datetime.strptime(found.group(), form) + later).strftime(form.replace("%z", "Z"))

    for path in files:
        vm = path.parent.name
        folder = lab.records_folder(vm)
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = lab.folder.stat()
        text = path.read_text().replace("/srv/lab", str(lab.folder))
        text = text.replace('"owner": "0"', f'"owner": "{owner.st_uid}"').replace('"group": "0"', f'"group": "{owner.st_gid}"')
        (folder / path.name).write_text(TIME.sub(moved, text))


def test_what_1_3_1_drained_and_approved_is_put_back(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    home, balancer = lab.folder / "web1", lab.folder / "balancer"
    service = home / "service"
    service.write_text(f'#!/bin/sh\necho "$1" >> {lab.folder}/done\n')
    service.chmod(0o755)
    balancer.mkdir()
    (balancer / "web1").touch()
    lab.flag("web1").unlink()
    (lab.folder / "undo.yml").write_text(
        json.dumps(
            [
                {"ansible.builtin.file": {"path": f"{balancer}/{{{{ inventory_hostname }}}}", "state": "absent"}},
                {"ansible.builtin.set_fact": {"drain_tasks_state": "undone"}},
            ]
        )
    )
    for vm in lab.vms:
        lab.hosts[vm]["drain_methods"] = [
            *lab.hosts[vm]["drain_methods"],
            {"method": "tasks", "outside": True, "begin": "undo.yml", "check": "undo.yml", "undo": "undo.yml"},
            {"method": "command", "begin": "false", "check": "false", "undo": f"{service} other"},
        ]
    leave_what_1x_wrote(lab, "1.3.1")
    lab.respond(respond_wait=True)
    assert lab.flag("web1").read_text() == "yes\n", "the content that 1.3.1 found before it drained"
    assert (lab.folder / "done").read_text() == "start\n", "the command that 1.3.1 recorded, once, and not that of today's variables"
    assert not (balancer / "web1").exists()
    assert lab.phases("web1") == ["noticed", "draining", "drained", "approved", "started", "gone", "recovering", "recovered"]
    assert lab.simulator.approvals() == []
    assert [lab.leases(vm) for vm in lab.vms] == [[], []]
    assert not list(lab.records_folder("web2").glob("mirror-*")), "the replica of what is over stays"
