# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The places where a Windows VM may have its endpoint: the two registry values that the published samples set (fact c5)."""

from __future__ import annotations

import typing as t

from ...module_utils._scheduled_events.discovery.candidates import USUAL_ADDRESS, Candidate
from ...module_utils._scheduled_events.discovery.option_245 import VARIABLE, finding_of_address
from .calls import Calls, failure_text

# Description; key; value. Variables of the whole system are in the registry as well.
VALUES = (
    (f"system variable {VARIABLE}", "HKLM:\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment", VARIABLE),
    ("registry value ScheduledEventsIp", "HKLM:\\SOFTWARE\\ScheduledEvents", "ScheduledEventsIp"),
)


class WindowsPlaces:
    """See Places. No DHCP request is sent from here: Windows offers that to programs only, and no program is installed on the VM."""

    advice = (
        "For a VM in a virtual network leave the option endpoint out. For any other, find the address of the VM's DHCP option 245 once (Microsoft's sample "
        "virtual-machines-scheduled-events-discover-endpoint-for-non-vnet-vm does; run it as administrator with --outputregistry), or set the system "
        f"variable {VARIABLE} with 'setx {VARIABLE} ADDRESS /m', or set the option endpoint to http://ADDRESS."
    )

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def candidates(self, seconds: float) -> t.Iterator[Candidate]:
        """Return both values, then the default address."""
        for source, key, name in VALUES:
            yield self._read(source, key, name)
        yield Candidate("Azure's usual address", USUAL_ADDRESS)

    def _read(self, source: str, key: str, name: str) -> Candidate:
        answer = self._calls.call("win_reg_stat", path=key, name=name)
        if answer.get("failed"):
            return Candidate(source, None, f"cannot be read ({failure_text(answer)})")
        text = str(answer.get("value") or "").strip() if answer.get("exists") else ""
        return Candidate(source, *finding_of_address(text)) if text else Candidate(source, None, "not set")
