# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Operators' tasks in role respond that end their host: a notification has failed, a drain has failed, and the pass goes on."""

from __future__ import annotations

import os
import typing as t

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]
NOTIFY = """
- ansible.builtin.shell: echo "{{ inventory_hostname }} {{ respond_notify_phase }}" >> {{ folder }}/told
- {ansible.builtin.meta: end_host, when: respond_notify_phase != 'gone'}
"""
NOTHING = {
    act: f"- {{ansible.builtin.set_fact: {{drain_tasks_state: {word}}}}}\n" for act, word in (("begin", "begun"), ("check", "drained"), ("undo", "undone"))
}


def give(lab: Lab, vm: str, word: str) -> None:
    for act in ("begin", "check", "undo"):
        (lab.folder / f"{act}.yml").write_text((f"- ansible.builtin.meta: {word}\n" if act == "begin" else "") + NOTHING[act])
    lab.hosts[vm]["drain_methods"] = [{"method": "tasks", **{act: str(lab.folder / f"{act}.yml") for act in ("begin", "check", "undo")}}]


def test_a_notification_that_ends_its_host_has_failed_and_the_vm_is_drained(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    lab.all.update(folder=str(lab.folder), respond_notify_tasks="notify.yml")
    (lab.folder / "notify.yml").write_text(NOTIFY)
    lab.simulator.event("Reboot", ["web1"], notice=600, started_seconds=60)
    shown = lab.respond(respond_wait=True)
    assert "respond_notify_tasks failed for" in shown and "tasks ended the host web1" in shown, shown[-5000:]
    assert lab.records("web1")[0]["phase"] == "recovered"
    assert "it was not observed" not in shown
    assert len((lab.folder / "told").read_text().split()) == 2, "what ends a host does not run again in this run"


def test_begin_that_ends_its_host_is_a_failed_drain_and_no_other_vm_waits_for_it(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 60)
    give(lab, "web1", "end_host")
    lab.simulator.event("Reboot", ["web1", "web2"], notice=36000)
    shown = lab.respond(code=2)
    record = lab.records("web1")[0]
    assert record["phase"] == "failed" and "ended the host" in record["reason"], (record, shown[-5000:])
    assert lab.records("web2")[0]["phase"] == "drained", shown[-5000:]
    assert "it was not observed" not in shown


# Before a release: EVERY_ENDING_WORD=1.
if "EVERY_ENDING_WORD" in os.environ:

    @pytest.mark.parametrize("word", ["end_host", "end_role", "end_batch", "end_play"])
    @pytest.mark.parametrize("place", ["notify", "begin", "check", "undo"])
    def test_every_word_in_every_place_ends_told_and_nothing_stays_under_way(make_lab: Make, place: str, word: str) -> None:
        lab = make_lab(["web1", "web2"], 60)
        lab.all.update(folder=str(lab.folder))
        leave = f"- ansible.builtin.meta: {word}\n"
        for act in ("begin", "check", "undo"):
            (lab.folder / f"{act}.yml").write_text((leave if act == place else "") + NOTHING[act])
        lab.hosts["web1"]["drain_methods"] = [{"method": "tasks", **{act: str(lab.folder / f"{act}.yml") for act in ("begin", "check", "undo")}}]
        if place == "notify":
            lab.all["respond_notify_tasks"] = "notify.yml"
            (lab.folder / "notify.yml").write_text(leave)
        lab.simulator.event("Reboot", ["web1", "web2"], notice=600, started_seconds=60)
        # An undo that ends its host does not run again in this run, which waits for it to the end of its time.
        shown = lab.respond(respond_wait=True, respond_wait_timeout=60 if place == "undo" else 180, code=None)
        phases = {vm: [(one["phase"], one.get("outcome")) for one in lab.records(vm)] for vm in lab.vms}
        print("ENDED", place, word, phases, "failed=1" in shown, [lab.leases(vm) for vm in lab.vms])
        assert "ended the host" in shown and "it was not observed" not in shown, shown[-5000:]
        assert phases["web2"][0][0] == "recovered", shown[-5000:]
        assert phases["web1"][0][0] in ("recovered", "failed"), shown[-5000:]
