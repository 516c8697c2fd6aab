# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Preempt of web2 whose drain is cut off at a chosen moment, by pulling the plug or by SIGKILL for the watcher, and what must hold afterwards.

A moment is found from outside, by what lies on the guest's disk and what the receiver has. Then the whole guest is frozen, so that the moment is still that
one when it ends.
"""

from __future__ import annotations

import re
import time
import typing as t

from ..lab.commands import until
from ..lab.lab import Lab
from ..lab.receiver import Receiver
from .disk import Disk
from .watchers import ARCHIVE, BEGUN, HOLD, kill_watcher, respond

VM = "web2"
# Long before Azure would take the VM: the watcher drains for a Preempt at once, whatever its notice.
PREEMPT = {"event_type": "Preempt", "resources": [VM], "notice": 36000}
TRIGGERS = "/run/azure-maintenance-drain"
# As the watcher itself reads them: whether they can be read, how many there are, and what is wrong.
READ_RECORDS = (
    f'import sys; sys.path.insert(0, "{ARCHIVE}"); from _scheduled_events.host.files import LocalFiles; from _scheduled_events.host.system import LocalHost; '
    "from _scheduled_events.journal.record_store import RecordStore; "
    'found = RecordStore(LocalFiles("/var/lib/azure-maintenance"), LocalHost()).read_all(None, set_aside=False); '
    "print(found.readable, len(found.records), found.problems)"
)
# Longer than a guest needs from its boot to its drain.
DELAY = {
    "delay.service": "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=sleep 15\n",
    "nginx.service.d/delay.conf": "[Unit]\nWants=delay.service\nAfter=delay.service\n",
}
KEPT_IN_SPOOL = ("known.json", "attempts.json")
# Records, when Scheduled Events were asked for, and the mark of a run that came by, which is valid for a while.
KEPT_OF_RECORDS = re.compile(r"event-[0-9a-f-]+\.[0-9]+\.json|asked|host-[0-9a-f]+\.[0-9]+\.json")


class Moment(t.NamedTuple):
    """Where the drain is cut off."""

    reached: t.Callable[[Scene], bool]
    receives: bool = True
    """Whether the receiver runs meanwhile."""
    answers: bool = True
    """Whether it answers."""
    holds: bool = False
    """Whether the last drain method stands still in the middle."""


class Scene:
    """One event, from its notice to the moment at which its drain is cut off, and on to the end."""

    def __init__(self, lab: Lab, receiver: Receiver, moment: Moment) -> None:
        self.lab, self.receiver, self.guest = lab, receiver, lab.guests[VM]
        self.disk = Disk(self.guest)
        self._hold = self.guest.root / HOLD.lstrip("/")
        self._begun = self.guest.root / BEGUN.lstrip("/")
        self._left_before = self.left()
        self._repeated_before = 0
        if not moment.receives:
            receiver.stop()
        if not moment.answers:
            receiver.answering.clear()
        if moment.holds:
            self._hold.touch()
        self.event_id = str(lab.simulator.ask("POST", "/events", PREEMPT)["event_id"])

    # --- what is there -----------------------------------------------------------------------------------------------------

    def phase(self) -> str:
        return str(self.disk.record(self.event_id).get("phase", ""))

    def spooled(self) -> list[tuple[str, str]]:
        return self.disk.messages(self.event_id)

    def told(self) -> list[str]:
        """The news that the receiver has, in order. A repetition, with the same id, is not among them."""
        return [message.change for message in self.receiver.about(self.event_id)]

    def repetitions(self) -> int:
        """How often a message came again, with the same id, after the end."""
        return self.receiver.repeated.count(self.event_id.lower()) - self._repeated_before

    def method_begun(self) -> bool:
        return self._begun.exists()

    # --- what is done to it ------------------------------------------------------------------------------------------------

    def freeze_at(self, moment: Moment) -> bool:
        """Wait for the moment and freeze the guest in it. Return False where the guest was faster."""
        end = time.monotonic() + 30
        while not moment.reached(self):
            assert time.monotonic() < end, f"never came there: phase {self.phase()!r}, spool {self.spooled()}, told {self.told()}"
            time.sleep(0.001)
        self.guest.cgroup.freeze()
        return moment.reached(self)

    def freeze_after(self, seconds: float) -> None:
        time.sleep(seconds)
        self.guest.cgroup.freeze()

    def go_on(self) -> None:
        """What held the drain and the receiver does so no more. Repetitions count from here on."""
        self._repeated_before = self.receiver.repeated.count(self.event_id.lower())
        self._hold.unlink(missing_ok=True)
        self.receiver.answering.set()
        self.receiver.start()

    def pull_plug(self, meanwhile: t.Callable[[], None]) -> None:
        """Every process of the frozen guest is killed at once; what is on its disk stays. It boots again."""
        self.guest.power_off()
        assert self.guest.cgroup.processes() == []
        self.go_on()
        # As if it lay in /run: the method has to begin anew.
        self._begun.unlink(missing_ok=True)
        meanwhile()
        self.guest.boot()
        self.guest.wait_until_up()

    def kill_units(self, meanwhile: t.Callable[[], None]) -> None:
        """The asker, the teller and the draining unit are killed; the guest goes on."""
        kill_watcher(self.guest)
        self.go_on()
        meanwhile()
        self.guest.cgroup.thaw()

    def delay_nginx(self) -> None:
        """From the next boot on, the start of nginx waits for another unit, as one that needs the network does."""
        for name, content in DELAY.items():
            path = self.guest.root / "etc/systemd/system" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)

    def end_delay(self) -> None:
        for name in DELAY:
            (self.guest.root / "etc/systemd/system" / name).unlink()
        self.on_guest("systemctl daemon-reload")

    def cancel(self) -> None:
        self.lab.simulator.ask("POST", f"/events/{self.event_id}/cancel")

    # --- what must hold ----------------------------------------------------------------------------------------------------

    def check_drained(self) -> None:
        """The VM is out of service, by a drain of this boot, and that is told, as one piece of news."""
        boot_id = self.on_guest("cat /proc/sys/kernel/random/boot_id")

        def drained() -> bool:
            record = self.disk.record(self.event_id)
            states = {(method["state"], method["boot_id"]) for method in record.get("methods", [])}
            return record.get("phase") == "drained" and states == {("drained", boot_id)}

        until(drained, 90, f"drained in boot {boot_id}; the record is {self.disk.record(self.event_id)}")
        until(lambda: self.lab.oracle.how_users_reach(VM)["out"], 15, "no user reaches it")
        assert self.on_guest("systemctl is-active nginx.service") == "inactive"
        assert self.method_begun()
        until(self.told, 60, "it is told")
        assert self.told() == ["listed"]
        self.check_records()

    def check_not_drained_again(self, before: dict[str, t.Any]) -> None:
        """The event is gone: nothing drains for it, and what was told before is told to its end."""
        news = ["listed", "gone"] if self.told() or self.spooled() else []
        asked = "import json; s = json.load(open('/run/azure-maintenance-watch/state.json')); print(s['answers'] > 12 and s['events'] == [])"
        # By then the end of an event that was told is told, too: ten seconds after the first document without it.
        until(lambda: self.on_guest(f'python3 -c "{asked}"') == "True", 60, "it has asked a dozen times")
        until(lambda: self.told() == news, 60, f"{news} told; it is {self.told()}, and the spool has {self.spooled()}")
        assert self.disk.record(self.event_id) == before
        drains = self.on_guest("journalctl --boot --no-pager --output=cat --unit=azure-maintenance-drain.service")
        assert "drain: rule" not in drains, drains
        self.check_records()

    def check_records(self) -> None:
        # Of a writer that was killed the revision before may be there as well, until the next one.
        many = len({path.name.split(".")[0] for path in self.disk.records.glob("event-*.json")})
        assert self.on_guest(f"python3 -c '{READ_RECORDS}'") == f"True {many} []"

    def put_back(self, name: str) -> None:
        """A run puts the VM back, where there is something to put back; then it is as before, and nothing lies around."""
        if self.disk.record(self.event_id):
            respond(self.lab, name, respond_hosts=VM)
            assert self.phase() == "recovered"
        self.lab.wait_until_all_serve(60)
        assert self.lab.oracle.services() == self.lab.untouched
        assert self.lab.platform.faults == []
        assert not self.method_begun()
        news = ["listed", "gone"] if self.told() else []
        until(lambda: self.told() == news, 60, f"{news} told; it is {self.told()}")
        # The end stays until the teller's next run finds it in the records; what it replaced is gone.
        until(lambda: self.spooled() in ([], [("gone", "accepted")]), 15, f"nothing but the end is in the spool; it has {self.spooled()}")

    def check_nothing_lies_around(self) -> None:
        """A temporary record of a writer that was killed stays for a day, and readers pass it over; one kill leaves one at most."""
        new = self.left().difference(self._left_before)
        assert all(name.startswith("temporary-") for name in new) and len(new) <= 1, new

    def left(self) -> set[str]:
        """Whatever is neither a record, a message that was told, nor the watcher's own state."""
        spool = [name for name in self._names("/var/lib/azure-maintenance-watch") if name not in KEPT_IN_SPOOL and not name.endswith(".accepted")]
        records = [name for name in self._names("/var/lib/azure-maintenance") if not KEPT_OF_RECORDS.fullmatch(name)]
        return {*spool, *records, *self._names(TRIGGERS)}

    def _names(self, folder: str) -> list[str]:
        return self.on_guest(f"ls -A {folder}").splitlines()

    def on_guest(self, command: str) -> str:
        return self.lab.controller.ask(VM, command)


def only_listed(scene: Scene) -> bool:
    return bool(scene.spooled() or scene.told()) and not scene.phase()


def recorded(scene: Scene) -> bool:
    return scene.phase() == "draining" and not scene.method_begun()


def at_work(scene: Scene) -> bool:
    return scene.phase() == "draining" and scene.method_begun()


def drained_untold(scene: Scene) -> bool:
    return scene.phase() == "drained" and scene.spooled() == [("listed", "waiting")] and not scene.told()


def told_unanswered(scene: Scene) -> bool:
    return scene.phase() == "drained" and scene.spooled() == [("listed", "waiting")] and scene.told() == ["listed"]


def told_and_settled(scene: Scene) -> bool:
    # Accepted, it stays until the records show the event to the teller's next run.
    return scene.phase() == "drained" and scene.spooled() in ([], [("listed", "accepted")]) and scene.told() == ["listed"]


MOMENTS: dict[str, Moment] = {
    "after the notice": Moment(only_listed),
    "after the record": Moment(recorded),
    "in a method": Moment(at_work, receives=False, holds=True),
    "drained, not told": Moment(drained_untold, receives=False),
    "told, no answer yet": Moment(told_unanswered, answers=False),
    "told": Moment(told_and_settled),
}
