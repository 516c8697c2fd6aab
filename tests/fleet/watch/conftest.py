# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watchers that the tests of this folder share: a play takes ten seconds and more."""

from __future__ import annotations

import typing as t

import pytest

from ..lab.lab import Lab
from ..lab.receiver import Receiver
from .watchers import METHODS, prepare, watch


@pytest.fixture(scope="package")
def receiver(fleet: Lab) -> t.Iterator[Receiver]:
    """Watchers on web1 and web2, which drain for a Preempt and tell a webhook: this one. This folder's tests are the last: the guests end with them."""
    receiver = Receiver(fleet.work / "receiver")
    receiver.start()
    hosts = fleet.controller.hosts
    vms = [vm for vm in METHODS if vm in hosts]
    for vm in vms:
        prepare(fleet.guests[vm], receiver)
        hosts[vm]["drain_methods"] = METHODS[vm]
    watch(fleet, "watch", vms)
    yield receiver
    receiver.stop()
