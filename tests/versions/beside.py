# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Controllers of 1.x before and beside this version's, for real: "beside.py [--only WORD] [--keep FOLDER] [VERSION ...]".

Each story runs with a release that is unpacked from git, against a simulator and hosts on this machine. The last line is "N passed, N failed".
--keep copies what the releases wrote on the VMs: tests/unit reads such files on every run. Run by hand: docs/TESTING.md.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import traceback
import typing as t

from versions import COMMITS, Controller, Lab, Run, phase

EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
VMS = ["web1", "web2"]
LIMIT = 300  # seconds of a lease that must not end while the other version looks at it
# What has begun is noted once; whether it is over is asked by a file, so that a story can stop between two phases.
SERVICE = """#!/bin/sh
case $1 in
  stop) test -e {home}/running && echo "stopped {vm}" >> {log}; rm -f {home}/running ;;
  drained) test -e {home}/running && exit 1; test -e {folder}/may_drain || exit 75 ;;
  start) test -e {folder}/may_return || exit 75; test -e {home}/running || echo "started {vm}" >> {log}; touch {home}/running ;;
esac
"""


class Site:
    """Two VMs with a flag file, a service, and a load balancer outside that knows who is out."""

    def __init__(self, folder: pathlib.Path, version: str) -> None:
        self.lab = lab = Lab(folder, VMS, 60)
        self.old, self.new = Controller(lab, version), Controller(lab)
        self.log = folder / "changes"
        self.log.touch()
        (folder / "balancer").mkdir()
        for vm in VMS:
            self._give_methods(vm)
        for stage, state, answer in (("begin", "touch", ""), ("check", "", "drained"), ("undo", "absent", "undone")):
            file = {"path": f"{folder}/balancer/{{{{ inventory_hostname }}}}", "state": state}
            tasks: list[dict[str, t.Any]] = [{"ansible.builtin.file": file}] if state else []
            tasks += [{"ansible.builtin.set_fact": {"drain_tasks_state": answer}}] if answer else []
            (folder / f"{stage}.yml").write_text(json.dumps(tasks))
        self.may("drain", True)
        self.may("return", True)

    def _give_methods(self, vm: str) -> None:
        home = self.lab.folder / vm
        service = home / "service"
        service.write_text(SERVICE.format(home=home, folder=self.lab.folder, log=self.log, vm=vm))
        service.chmod(0o755)
        (home / "running").touch()
        self.lab.hosts[vm]["drain_methods"] += [
            {"method": "tasks", "outside": True, "begin": "begin.yml", "check": "check.yml", "undo": "undo.yml"},
            {"method": "command", "begin": f"{service} stop", "check": f"{service} drained", "undo": f"{service} start"},
        ]

    def may(self, what: str, allowed: bool) -> None:
        path = self.lab.folder / f"may_{what}"
        path.touch() if allowed else path.unlink(missing_ok=True)

    def event(self, *vms: str, started_seconds: float = 36000, **more: t.Any) -> str:
        return self.lab.simulator.event("Reboot", list(vms), notice=72000, started_seconds=started_seconds, **more)

    def over(self, event: str) -> None:
        """Azure is done with an event."""
        self.lab.simulator.ask("POST", f"/events/{event}/finish")

    def out(self, vm: str) -> list[bool]:
        """Whether each of the three methods has taken a VM out."""
        home = self.lab.folder / vm
        return [not self.lab.flag(vm).exists(), (self.lab.folder / "balancer" / vm).exists(), not (home / "running").exists()]

    def approvals(self) -> int:
        return len(self.lab.simulator.approvals())

    def well(self, *vms: str) -> None:
        """Everything is as before, was changed once each way, and nothing is left."""
        changes = self.log.read_text().splitlines()
        assert sorted(changes) == sorted(f"{change} {vm}" for vm in vms for change in ("stopped", "started")), changes
        for vm in VMS:
            assert self.out(vm) == [False] * 3, (vm, self.out(vm))
            assert self.lab.flag(vm).read_text() == "yes\n"
            assert self.lab.leases(vm) == [], self.lab.leases(vm)
            assert not list(self.lab.records_folder(vm).glob("mirror-*")), "a replica of what is over stays"
        for vm in vms:
            assert self.lab.phases(vm)[-1] == "recovered", self.lab.phases(vm)


def drained_approved_then_recovered(site: Site) -> None:
    event = site.event("web1")
    site.old.play()
    assert site.out("web1") == [True] * 3 and site.approvals() == 1
    assert phase(site.lab, "web1") in ("approved", "started") and len(list(site.lab.records_folder("web2").glob("mirror-*"))) == 1
    keep(site, "approved")
    site.new.play()
    assert site.out("web1") == [True] * 3 and site.approvals() == 1, "the event is not over yet"
    site.over(event)
    site.new.play(respond_wait=True)
    site.well("web1")


def killed_while_it_drains(site: Site) -> None:
    site.may("drain", False)
    site.event("web1", started_seconds=120)
    run = site.old.start(respond_wait=True)
    run.until(lambda: site.out("web1") == [True] * 3, "the service is stopped")
    run.kill()
    assert phase(site.lab, "web1") == "draining" and site.approvals() == 0
    keep(site, "draining")
    site.may("drain", True)
    site.new.play(respond_wait=True)
    assert site.approvals() == 1
    site.well("web1")


def killed_once_approved(site: Site) -> None:
    event = site.event("web1")
    run = site.old.start(respond_wait=True)
    run.until(lambda: site.approvals() == 1, "approved")
    run.kill()
    keep(site, "approving")
    assert site.out("web1") == [True] * 3
    site.over(event)
    site.new.play(respond_wait=True)
    assert site.approvals() == 1
    site.well("web1")


def killed_while_it_puts_back(site: Site) -> None:
    site.may("return", False)
    event = site.event("web1")
    site.old.play()
    site.over(event)
    run = site.old.start(respond_wait=True)
    run.until(lambda: phase(site.lab, "web1") == "recovering", "it is put back")
    run.kill()
    keep(site, "recovering")
    site.may("return", True)
    site.new.play(respond_wait=True)
    site.well("web1")


def recovered_by_the_old_one(site: Site) -> None:
    """The other way: a controller that was not upgraded puts back what this version has drained."""
    event = site.event("web1")
    site.new.play()
    assert site.out("web1") == [True] * 3 and site.approvals() == 1
    site.over(event)
    site.old.play(respond_wait=True)
    site.well("web1")


def lost_records_come_back_from_the_replica(site: Site) -> None:
    event = site.event("web1")
    site.old.play()
    shutil.rmtree(site.lab.records_folder("web1"))
    site.over(event)
    site.new.play(respond_wait=True)
    # Only what was changed outside is known to another VM; the rest went with the disk.
    assert site.out("web1") == [True, False, True], site.out("web1")
    assert not list(site.lab.records_folder("web2").glob("mirror-*"))
    assert phase(site.lab, "web1") != "", "restored from the replica"


def progress(site: Site, vm: str) -> list[t.Any]:
    """How far a VM is by its records."""
    return [(record["phase"], record["approving_at"], [method["state"] for method in record["methods"]]) for record in site.lab.records(vm)]


def beside_a_frozen_run(site: Site, first: Controller, second: Controller) -> None:
    """The other version says whose the VMs are, and does nothing."""
    held = {vm: site.lab.leases(vm) for vm in VMS}
    keep(site, f"leased-by-{first.version}")
    before = {vm: progress(site, vm) for vm in VMS}
    site.may("drain", True)
    output = second.play()
    run_id = held["web1"][0].split("-")[1]
    assert f"run {run_id} of " in output and "is at work on web1" in output, output[-4000:]
    assert {vm: site.lab.leases(vm) for vm in VMS} == held, "it took the other's leases, or left its own"
    assert site.approvals() == 0 and {vm: progress(site, vm) for vm in VMS} == before, "it acted beside the other"
    assert f"run {run_id} of " in second.play("status")


def one_waits_for_the_other(site: Site, first: Controller, second: Controller) -> None:
    site.lab.all["respond_timing"]["lease_seconds"] = LIMIT
    site.may("drain", False)
    site.event("web1", "web2", event_id=EVENT, started_seconds=120)
    run = first.start(respond_wait=True)
    run.until(lambda: all(site.out(vm) == [True] * 3 for vm in VMS), "both are drained")
    # Frozen between two actions it has them, too, and renews nothing. Its modules run to their end.
    site.lab.simulator.until(lambda: all(site.lab.leases(vm) for vm in VMS), 30, "leases")
    run.process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(5)
        beside_a_frozen_run(site, first, second)
    finally:
        run.process.send_signal(signal.SIGCONT)
    run.ended()
    assert site.approvals() == 1
    site.well("web1", "web2")


def the_new_one_waits_for_the_old_one(site: Site) -> None:
    one_waits_for_the_other(site, site.old, site.new)


def the_old_one_waits_for_the_new_one(site: Site) -> None:
    one_waits_for_the_other(site, site.new, site.old)


def both_at_once(site: Site, events: t.Sequence[t.Sequence[str]], first: Controller, second: Controller) -> None:
    """Capacity is for one VM, in the order of what the services did: whoever is stopped is started before the next is."""
    lab = site.lab
    lab.all.update(respond_capacity=[{"name": "web", "members": VMS, "max_unavailable": 1}], respond_drain_seconds=30, respond_wait_timeout=250)
    lab.all["respond_timing"]["lease_seconds"] = LIMIT
    for vms in events:
        lab.simulator.event("Freeze", list(vms), duration_in_seconds=30, notice=72000, started_seconds=60)
    runs: list[Run] = [first.start(respond_wait=True), second.start(respond_wait=True)]
    try:
        for run in runs:
            run.ended()
    finally:
        for run in runs:
            if run.process.poll() is None:
                run.kill()
    changes = site.log.read_text().splitlines()
    assert [change.split()[0] for change in changes] == ["stopped", "started"] * len(events), changes
    assert [change.split()[1] for change in changes[::2]] == [change.split()[1] for change in changes[1::2]], changes
    site.well(*[vm for vms in events for vm in vms])
    assert site.approvals() == len(events), site.lab.simulator.approvals()


def both_start_at_once_1(site: Site) -> None:
    both_at_once(site, [["web1"], ["web2"]], site.old, site.new)


def both_start_at_once_2(site: Site) -> None:
    both_at_once(site, [["web1"], ["web2"]], site.new, site.old)


def both_start_at_once_3(site: Site) -> None:
    both_at_once(site, [["web1"]], site.new, site.old)


def an_unknown_format_holds(site: Site) -> None:
    event = site.event("web1")
    site.may("drain", False)
    site.old.play()
    assert phase(site.lab, "web1") == "draining"
    path = max(site.lab.records_folder("web1").glob("event-*.json"), key=lambda one: int(one.name.split(".")[-2]))
    content = json.loads(path.read_text())
    path.write_text(json.dumps(dict(content, format=99)))
    site.may("drain", True)
    for _time in range(2):
        output = site.new.play()
        assert "format" in output and "99" in output, output[-4000:]
        assert site.approvals() == 0 and site.out("web1") == [True] * 3 and json.loads(path.read_text())["format"] == 99
    # It stays so when the event is gone: nobody knows what is to be put back.
    site.lab.simulator.ask("POST", f"/events/{event}/cancel")
    site.new.play()
    assert site.out("web1") == [True] * 3
    path.write_text(json.dumps(content))
    site.new.play(respond_wait=True)
    site.well("web1")


def a_persons_word_counts(site: Site) -> None:
    event = site.event("web1")
    given = {"decide_event_id": event, "decide_who": "alice", "decide_why": "not today", "decide_until": "2200-01-01T00:00:00Z"}
    site.old.play("decide", decide_action="hold", **given)
    keep(site, "held")
    output = site.new.play()
    assert "held by alice until 2200-01-01 00:00 UTC: not today" in output and site.approvals() == 0, output[-4000:]
    site.old.play("decide", decide_event_id=event, decide_action="release", decide_who="alice")
    site.new.play()
    assert site.approvals() == 1
    site.over(event)
    site.new.play(respond_wait=True)
    site.well("web1")


def an_upgrade_goes_on(site: Site) -> None:
    lab = site.lab
    lab.all["respond_capacity"] = [{"name": "web", "members": VMS, "max_unavailable": 1}]
    lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=100, upgrade_interval=1, folder=str(lab.folder))
    lab.all["respond_timing"]["lease_seconds"] = LIMIT
    work = [{"ansible.builtin.shell": "echo {{ inventory_hostname }} >> {{ folder }}/upgraded; sleep {{ nap }}"}]
    (lab.folder / "work.yml").write_text(json.dumps(work))
    given = {"upgrade_hosts": "all", "upgrade_name": "Kernel", "upgrade_tasks": "work.yml"}
    upgraded = lab.folder / "upgraded"
    run = site.old.start("rolling_upgrade", nap=60, **given)
    run.until(lambda: upgraded.exists() and upgraded.read_text().split() == ["web1"], "web1 is upgraded", 250)
    run.kill()
    keep(site, "upgrade")
    (name,) = lab.leases("web1")
    holder = name.split("-")[1]
    # An upgrade waits for the lease, and says whose it is.
    output = site.new.play("rolling_upgrade", code=2, nap=0, **{**given, "gate_wait_seconds": 0})
    assert f"run {holder}" in output and "gate_dead_run" in output, output[-4000:]
    assert site.out("web1") == [True] * 3 and lab.leases("web1") == [name]
    output = site.new.play("rolling_upgrade", nap=0, gate_dead_run=holder, **given)
    assert upgraded.read_text().split() == ["web1", "web1", "web2"], "killed in its tasks, web1 is upgraded once more"
    assert "Upgrade Kernel is done on web1, web2." in output
    # What this version has marked as done counts for a controller of 1.x.
    site.old.play("rolling_upgrade", nap=0, **given)
    assert upgraded.read_text().split() == ["web1", "web1", "web2"]
    site.well("web1", "web2")


STORIES: tuple[t.Callable[[Site], None], ...] = (
    drained_approved_then_recovered,
    killed_while_it_drains,
    killed_once_approved,
    killed_while_it_puts_back,
    recovered_by_the_old_one,
    lost_records_come_back_from_the_replica,
    the_new_one_waits_for_the_old_one,
    the_old_one_waits_for_the_new_one,
    both_start_at_once_1,
    both_start_at_once_2,
    both_start_at_once_3,
    an_unknown_format_holds,
    a_persons_word_counts,
    an_upgrade_goes_on,
)
_kept: pathlib.Path | None = None


def keep(site: Site, name: str) -> None:
    """Copy what lies on the VMs, when asked for."""
    if _kept is not None:
        for vm in VMS:
            shutil.copytree(site.lab.records_folder(vm), _kept / site.old.version / name / vm, dirs_exist_ok=True)


def tell(story: t.Callable[[Site], None], version: str) -> bool:
    """Run one story in a folder of its own; whether it went well."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(pathlib.Path(folder) / "lab", version)
        try:
            story(site)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print(f"FAILED {version} {story.__name__}", flush=True)
            return False
        finally:
            site.lab.close()
    print(f"passed {version} {story.__name__} {time.monotonic() - began:.0f} s", flush=True)
    return True


def main() -> int:
    global _kept
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", default=[version for version in COMMITS if version.startswith("1.")])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=pathlib.Path)
    given = parser.parse_args()
    _kept = given.keep
    results = [tell(story, version) for version in given.versions for story in STORIES if not given.only or any(word in story.__name__ for word in given.only)]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
