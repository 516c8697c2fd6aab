# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a notice to Azure's approval, with the real playbook; and the event source instead of a watcher."""

from __future__ import annotations

import concurrent.futures
import pathlib
import time
import typing as t

from lab.lab import Lab

from eda.messages import message
from eda.rulebook import Rulebook

Make = t.Callable[..., Rulebook]

SOURCE = """
- name: Ask the endpoints
  hosts: all
  execution_strategy: parallel
  sources:
    - maintenance.azure.scheduled_events:
        endpoints: ENDPOINTS
        interval: 1
      filters:
        - maintenance.azure.normalize:
  rules:
    - name: Listed
      condition: event.maintenance.news == true and event.maintenance.change == "listed"
      actions:
        - run_playbook:
            name: maintenance.azure.respond
            extra_vars:
              respond_only_events: ["{{ event.maintenance.event_id }}"]
    - name: What is no news
      condition: event.maintenance.news == false
      actions:
        - debug:
            msg: "{{ event.maintenance.form }} {{ event.maintenance.change }}: {{ event.maintenance.problem }}"
"""


def test_a_notice_leads_to_an_approval(make_rulebook: Make, tmp_path: pathlib.Path) -> None:
    lab = Lab(tmp_path, ["web1", "web2"])
    rulebook = make_rulebook(lab)
    print(f"ansible-rulebook listens after {rulebook.start():.1f} s")
    event_id = lab.simulator.event("Reboot", ["web1", "web2"], notice=36000, started_seconds=60)
    sent = time.time()
    for vm in ("web1", "web2"):
        assert rulebook.send(message(event_id, vm, resources=["web1", "web2"])) == 200
    lab.simulator.until(lambda: len(lab.simulator.approvals()) > 0, 60, "an approval")
    approved = time.time()
    runs = rulebook.until_runs(2, 120)
    print(f"notice to playbook {runs[0].began - sent:.2f} s, notice to approval {approved - sent:.2f} s, run {runs[0].ended - runs[0].began:.1f} s")
    assert len(lab.simulator.approvals()) == 1
    assert all(run.event_id == event_id.lower() for run in runs)
    assert "recovered" in lab.phases("web1") and "recovered" in lab.phases("web2")
    # The names of the messages were enough to choose the VMs.
    assert "Looking at all" not in rulebook.text()


def test_an_event_that_does_not_exist_does_nothing(make_rulebook: Make, tmp_path: pathlib.Path) -> None:
    lab = Lab(tmp_path, ["web1", "web2"])
    real = lab.simulator.event("Reboot", ["web1", "web2"], notice=36000)
    rulebook = make_rulebook(lab)
    rulebook.start()
    # Another VM's name, and an event of which no VM's document knows.
    forged = "c7061bac-afdc-4513-b24b-aa5f13a16123"
    assert rulebook.send(message(forged, "web2", resources=["web1", "web2"])) == 200
    rulebook.until_runs(1, 60)
    assert lab.simulator.approvals() == []
    assert not any(record["event"]["event_id"].lower() == forged for vm in ("web1", "web2") for record in lab.records(vm))
    assert all(lab.flag(vm).read_text() == "yes\n" for vm in ("web1", "web2")), f"something was drained, though {real} was not told"


def test_the_event_source_instead_of_a_watcher(make_rulebook: Make, tmp_path: pathlib.Path) -> None:
    lab = Lab(tmp_path, ["web1", "web2"])
    endpoints = [{"name": vm, "endpoint": endpoint} for vm, endpoint in lab.simulator.endpoints.items()]
    path = tmp_path / "source.yml"
    path.write_text(SOURCE.replace("ENDPOINTS", str([*endpoints, {"name": "dead", "endpoint": "http://127.0.0.1:9"}])))
    rulebook = make_rulebook(lab, str(path), seconds=0.1)
    rulebook.start(listens=False)
    time.sleep(8)
    sent = time.time()
    event_id = lab.simulator.event("Reboot", ["web1", "web2"], notice=36000)
    runs = rulebook.until_runs(2, 30)
    print(f"event to playbook, by the source: {runs[0].began - sent:.2f} s")
    assert {run.event_id for run in runs} == {event_id.lower()}
    end = time.monotonic() + 30
    while "endpoint failing" not in rulebook.text():
        assert time.monotonic() < end, rulebook.text()[-3000:]
        time.sleep(0.5)


def test_of_two_events_at_once_neither_run_ends_having_done_nothing(make_rulebook: Make, tmp_path: pathlib.Path) -> None:
    """Their runs meet on web2, in the same moment."""
    lab = Lab(tmp_path, ["web1", "web2", "web3"])
    lab.all["respond_capacity"] = [{"name": "web", "members": lab.vms, "max_unavailable": 3}]
    # Longer than an iteration on the busiest machine.
    lab.all["respond_timing"]["lease_seconds"] = 120
    rulebook = make_rulebook(lab)
    rulebook.start()
    listed = [["web1", "web2"], ["web2", "web3"]]
    told = {lab.simulator.event("Reboot", vms, notice=72000, started_seconds=60, duration_in_seconds=60).lower(): vms for vms in listed}
    began = time.time()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        sent = [pool.submit(rulebook.send, message(event_id, vms[0], resources=vms)) for event_id, vms in told.items()]
    assert [one.result() for one in sent] == [200, 200]
    runs = rulebook.until_runs(2, 120)
    print(f"both are over {max(run.ended for run in runs) - began:.1f} s after the messages")
    # A run acts on its own event alone.
    assert sorted(run.event_id for run in runs) == sorted(told) and max(run.began for run in runs) < min(run.ended for run in runs)
    records = [record for vm in lab.vms for record in lab.records(vm)]
    assert [record["phase"] for record in records] == ["recovered"] * 4
    assert all("drained" in [entry["phase"] for entry in record["history"]] for record in records)
    assert sorted(event_id for event_id in told for entry in lab.simulator.approvals() if event_id in entry["body"].lower()) == sorted(told)
