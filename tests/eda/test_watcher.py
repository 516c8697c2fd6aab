# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way: a watcher notices, tells the real ansible-rulebook over TLS, and the run that begins approves and puts back.

systemd's part, which starts the telling unit, is played by a loop here; tests/guests/test_watch.py has the real one.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import threading
import time
import typing as t

from lab.lab import Lab

from eda.rulebook import TOKEN, Rulebook

Make = t.Callable[..., Rulebook]
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Watcher:
    """The watcher of one VM of the lab."""

    def __init__(self, rulebook: Rulebook, vm: str) -> None:
        self.folder = rulebook.lab.folder / f"watcher-{vm}"
        for name in ("runtime", "state", "seen"):
            (self.folder / name).mkdir(parents=True)
        credential = self.folder / "credential"
        credential.write_text(TOKEN)
        credential.chmod(0o400)
        folders = {f"{name}_folder": str(self.folder / name) for name in ("runtime", "state", "seen")}
        settings = {
            "endpoint": rulebook.lab.simulator.endpoints[vm],
            "records_path": rulebook.lab.hosts[vm]["respond_records_path"],
            "tell_url": f"https://127.0.0.1:{rulebook.port}/",
            "tell_certificates": str(rulebook.folder / "certificate.pem"),
            "tell_credential": "bearer",
            "tell_credential_file": str(credential),
            **folders,
        }
        (self.folder / "watch.json").write_text(json.dumps(settings))
        pack = [str(ROOT / "plugins/plugin_utils/_controller/pack.py"), str(ROOT / "plugins/module_utils/_scheduled_events")]
        subprocess.run([sys.executable, *pack, str(self.folder / "watch.pyz"), "_scheduled_events.watch.main"], check=True)
        self.asker = subprocess.Popen(self.command("ask"))
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._tell)
        self.thread.start()

    def command(self, word: str) -> list[str]:
        return [sys.executable, "-I", str(self.folder / "watch.pyz"), word, str(self.folder / "watch.json")]

    def waiting(self) -> list[str]:
        return sorted(path.suffix for path in (self.folder / "state").iterdir() if path.suffix in (".waiting", ".accepted"))

    def _tell(self) -> None:
        """Start the teller while messages wait, as the path unit does."""
        while not self.ended.wait(0.1):
            if self.waiting():
                subprocess.run(self.command("seen"), check=False, timeout=30)
                teller = subprocess.Popen(self.command("tell"))
                while teller.poll() is None and not self.ended.wait(0.1):
                    pass
                teller.terminate()
                teller.wait(10)

    def end(self) -> None:
        self.ended.set()
        self.thread.join(30)
        self.asker.kill()
        self.asker.wait(10)


@contextlib.contextmanager
def watchers(rulebook: Rulebook, *vms: str) -> t.Iterator[list[Watcher]]:
    made = [Watcher(rulebook, vm) for vm in vms]
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
