# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of the watcher on a real systemd: in a folder that the role makes, and in one that belongs to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from test_respond import Controller, ask
from test_service import ADDRESS, guest, until

pytestmark = pytest.mark.skipif(not ADDRESS, reason="needs the guest that run.sh boots")

ENDPOINT = "http://127.0.0.1:8169"
FIGURES = "/srv/figures"


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    """A watcher and a simulator that it asks; both tests share them."""
    controller = Controller(tmp_path_factory.mktemp("figures"))
    guest("rm -rf /var/lib/azure-maintenance; systemctl start web.service")
    controller.play("simulator.yml", simulator_speed=1)
    yield controller
    controller.play("maintenance.azure.watch", watch_state="absent")
    controller.play("simulator.yml", simulator_state="absent")
    guest("rm -rf /srv/figures /srv/other", check=False)


def install(controller: Controller, **variables: Any) -> str:
    return controller.play("maintenance.azure.watch", watch_endpoint=ENDPOINT, **variables)


def test_figures_in_a_folder_that_the_role_makes(controller: Controller) -> None:
    first = controller.play("maintenance.azure.watch", "--check", "--diff", watch_endpoint=ENDPOINT, watch_figures_folder=FIGURES)
    assert "failed=0" in first and guest(f"ls -d {FIGURES} 2>/dev/null || true") == ""
    install(controller, watch_figures_folder=FIGURES)
    assert guest(f"stat -c '%U %G %a' {FIGURES}") == "root azure-maintenance 775"
    for words in ((), ("--check", "--diff")):
        assert "changed=0" in controller.play("maintenance.azure.watch", *words, watch_endpoint=ENDPOINT, watch_figures_folder=FIGURES)
    ask("POST", "/events", {"event_type": "Preempt", "resources": ["web1"], "notice": 3600})
    listed = 'azure_scheduled_events_listed{type="Preempt",status="Scheduled",this_vm="true"} 1'
    until(lambda: listed in guest(f"cat {FIGURES}/maintenance_watch.prom", check=False))
    controller.play("maintenance.azure.respond")
    # The timer of root's unit reads the records once a minute.
    until(lambda: "azure_scheduled_events_records{" in guest(f"cat {FIGURES}/maintenance_records.prom | grep ' 1$'", check=False), 300)
    assert guest(f"stat -c '%U %a' {FIGURES}/*.prom").splitlines() == ["root 644", "azure-maintenance-ask 644"]
    # Another folder: the files of the one before are removed, and so is that folder, which the role had made.
    install(controller, watch_figures_folder="/srv/other")
    until(lambda: "maintenance_watch.prom" in guest("ls /srv/other"))
    assert guest(f"ls -d {FIGURES} 2>/dev/null || true") == ""
    # None: nothing is left, nor is the timer.
    install(controller)
    assert guest("ls -d /srv/other 2>/dev/null || true") == ""
    assert guest("systemctl is-active azure-maintenance-seen.timer", check=False) == "inactive"
    assert "changed=0" in install(controller)


def test_figures_in_a_folder_of_others(controller: Controller) -> None:
    guest(f"mkdir -m 0755 {FIGURES}; echo 'other 1' > {FIGURES}/other.prom")
    with pytest.raises(AssertionError) as caught:
        install(controller, watch_figures_folder=FIGURES)
    words = f"cannot both write to watch_figures_folder {FIGURES}, which belongs to root:root with mode 0755. Next: chgrp azure-maintenance {FIGURES}"
    assert words in " ".join(str(caught.value).split())
    guest(f"chgrp azure-maintenance {FIGURES} && chmod g+rwx {FIGURES}")
    install(controller, watch_figures_folder=FIGURES)
    until(lambda: len(guest(f"ls {FIGURES}/*.prom").split()) == 3)
    code = guest(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'cat {FIGURES}/*.prom > /dev/null && ! touch {FIGURES}/x'; echo $?", check=False)
    assert code.splitlines()[-1] == "0"
    assert "changed=0" in install(controller, watch_figures_folder=FIGURES)
    # The settings on the VM know the folder, also where the variable is not given.
    controller.play("maintenance.azure.watch", watch_state="absent")
    assert guest(f"ls -A {FIGURES}") == "other.prom"
    assert guest(f"stat -c '%U %G %a' {FIGURES}") == "root root 775"
