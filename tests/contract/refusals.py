# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run in which each host is refused for something else: what it says of each. A run for each refusal would cost the start of Ansible each time."""

from __future__ import annotations

import re

NEXT = r"^(?:fatal|failed|ok|changed|skipping|included): |^\[(?:ERROR|WARNING)\]|^TASK \[|^PLAY "
REFUSED = re.compile(rf"^(?:fatal|failed): \[(\w+)\](.*?)(?={NEXT})", re.M | re.S)
RECAP = re.compile(r"^(\w+) +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=(\d+)", re.M)


def refusals(printed: str) -> dict[str, str]:
    """What is printed of each host that failed, on one line."""
    found: dict[str, str] = {}
    for host, text in REFUSED.findall(printed):
        found[host] = f"{found.get(host, '')} {' '.join(text.split())}"
    return found


def changed_and_failed(printed: str) -> dict[str, tuple[int, int]]:
    """How many tasks have changed something on each host, and how many have failed."""
    return {host: (int(changed), int(failed)) for host, changed, failed in RECAP.findall(printed)}
