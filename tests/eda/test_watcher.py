# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way: a watcher notices, tells the real ansible-rulebook over TLS, and the run that begins approves and puts back."""

from __future__ import annotations

import contextlib
import pathlib
import time
import typing as t

from lab.lab import Lab
from lab.watcher import Watcher

from eda.rulebook import TOKEN, Rulebook

Make = t.Callable[..., Rulebook]


@contextlib.contextmanager
def watchers(rulebook: Rulebook, *vms: str) -> t.Iterator[list[Watcher]]:
    credential = rulebook.folder / "credential"
    credential.write_text(TOKEN)
    credential.chmod(0o400)
    told = {
        "tell_url": f"https://127.0.0.1:{rulebook.port}/",
        "tell_certificates": str(rulebook.folder / "certificate.pem"),
        "tell_credential": "bearer",
        "tell_credential_file": str(credential),
    }
    made = [Watcher(rulebook.lab, vm, **told) for vm in vms]
    try:
        yield made
    finally:
        for watcher in made:
            watcher.end()


def test_from_azures_notice_to_the_approval_and_back(make_rulebook: Make, tmp_path: pathlib.Path) -> None:
    lab = Lab(tmp_path, ["web1", "web2"])
    rulebook = make_rulebook(lab)
    rulebook.start()
    with watchers(rulebook, "web1", "web2") as made:
        time.sleep(3)
        lab.simulator.event("Reboot", ["web1", "web2"], notice=36000, started_seconds=60)
        listed = time.time()
        lab.simulator.until(lambda: len(lab.simulator.approvals()) > 0, 90, "an approval")
        print(f"event to approval of two VMs, by watchers and the rulebook: {time.time() - listed:.1f} s")
        lab.simulator.until(lambda: all("recovered" in lab.phases(vm) for vm in ("web1", "web2")), 90, "recovery")
        # The records say so, and no message is repeated any more.
        lab.simulator.until(lambda: not any(watcher.waiting() for watcher in made), 120, "an empty spool")
    assert len(lab.simulator.approvals()) == 1


def test_what_came_while_the_rulebook_was_down_is_told_when_it_is_back(make_rulebook: Make, tmp_path: pathlib.Path) -> None:
    lab = Lab(tmp_path, ["web1"])
    rulebook = make_rulebook(lab, seconds=0.1)
    with watchers(rulebook, "web1") as made:
        event_id = lab.simulator.event("Reboot", ["web1"], notice=36000)
        lab.simulator.until(lambda: made[0].waiting() == [".waiting"], 30, "a message in the spool")
        rulebook.start()
        runs = rulebook.until_runs(1, 60)
        assert runs[0].event_id == event_id.lower()
        # That run only waited and wrote no record: the message stays, to be repeated.
        assert made[0].waiting() == [".accepted"]
