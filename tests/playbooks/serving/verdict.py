# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose fault a failed request is, by its second and by who was hit or down then.

Without this collection a request is served as long as one VM is neither hit by Azure nor out by itself (its application is down, or a person has taken it out).
So a request that failed is
  Azure's        where no such VM was left in its seconds, and Azure hit one of them without an approval, by itself;
  an accident's  where none was left and Azure hit none; or where a VM had gone by itself in the moment before (HAProxy must notice, and a pass must look);
  ours           in every other case: a VM could have served it, or the hit came because a run approved it.
"""

from __future__ import annotations

import collections
import threading
import time
import typing as t

from lab.load import Answer

# After Azure's hit, and after a fault, HAProxy's checks take this long to see it: two of 300 ms, and some for a busy machine.
NOTICED = 1.5


class Outage(t.NamedTuple):
    """When a VM could serve no request, and why: C(azure), C(approved) (Azure's hit, too) or C(itself)."""

    vm: str
    why: str
    began: float
    ended: float


class Outages:
    """All of them; changed by the scene and by Azure's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: list[Outage] = []
        self._open: dict[str, tuple[str, float]] = {}
        # How long a pass may take to answer the fault of a VM that HAProxy has noticed: a scene says it.
        self.grace = NOTICED

    def begin(self, vm: str, why: str) -> None:
        with self._lock:
            self._open.setdefault(vm, (why, time.time()))

    def end(self, vm: str) -> None:
        with self._lock:
            if vm in self._open:
                why, began = self._open.pop(vm)
                self._ended.append(Outage(vm, why, began, time.time() + NOTICED))

    def every(self) -> list[Outage]:
        with self._lock:
            return [*self._ended, *(Outage(vm, why, began, float("inf")) for vm, (why, began) in self._open.items())]


class Verdict:
    """The requests of a scene."""

    def __init__(self, total: int, failed: dict[str, list[Answer]]) -> None:
        self.total = total
        self.ours, self.azure, self.accident = (failed.get(one, []) for one in ("ours", "azure", "accident"))

    @property
    def failed(self) -> int:
        return len(self.ours) + len(self.azure) + len(self.accident)

    def line(self) -> str:
        return f"{self.failed} of {self.total} requests failed: {len(self.ours)} ours, {len(self.azure)} Azure's, {len(self.accident)} an accident's"

    def seconds(self, since: float) -> list[str]:
        """Return, for each second with failed requests, how many and whose."""
        counts: dict[int, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        for whose in ("ours", "azure", "accident"):
            for answer in getattr(self, whose):
                counts[int(answer.began - since)][f"{whose} ({answer.status})"] += 1
        return [f"second {second}: " + ", ".join(f"{count} {whose}" for whose, count in found.items()) for second, found in sorted(counts.items())]


def judge(answers: t.Sequence[Answer], outages: Outages, vms: t.Sequence[str]) -> Verdict:
    every = outages.every()
    failed: dict[str, list[Answer]] = collections.defaultdict(list)
    for answer in answers:
        if answer.status != 200:
            failed[_whose(answer, every, set(vms), outages.grace)].append(answer)
    return Verdict(len(answers), failed)


def _whose(answer: Answer, every: t.Sequence[Outage], vms: set[str], grace: float) -> str:
    then = [outage for outage in every if outage.began <= answer.ended and answer.began <= outage.ended]
    if {outage.vm for outage in then} >= vms and not any(outage.why == "approved" for outage in then):
        return "azure" if any(outage.why == "azure" for outage in then) else "accident"
    fresh = any(outage.why == "itself" and answer.began <= outage.began + grace for outage in then)
    return "accident" if fresh else "ours"
