# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What most tests of the code on a VM begin with. A test that needs another one of the same name has its own."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Scripted, Vm
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import FakeHost


@pytest.fixture
def host():
    """A VM whose clock and boot the test moves."""
    return FakeHost()


@pytest.fixture
def files(tmp_path):
    """The folder of a VM's records."""
    return LocalFiles(str(tmp_path / "records"))


@pytest.fixture
def seams():
    """What takes the place of a machine's services and commands, by the field of Machine."""
    return {}


@pytest.fixture
def vm(tmp_path, seams):
    """A VM to drain."""
    found = Vm(tmp_path)
    found.machine = found.machine._replace(**seams)
    return found


@pytest.fixture
def method(monkeypatch):
    """The drain method "scripted", whose answers the test gives."""
    scripted = Scripted()
    monkeypatch.setitem(registry.METHODS, "scripted", scripted)
    return scripted
