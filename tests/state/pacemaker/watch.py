# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A user of a resource: sees ten times a second where it runs, and when the event was approved."""

from __future__ import annotations

import threading
import time
import typing as t

from lab.simulator import Simulator
from pacemaker.cluster import Cluster

STEP = 0.05


class Seen(t.NamedTuple):
    at: float
    nodes: t.Sequence[str]
    approved: bool


class Watch:
    """Looks until it is left."""

    def __init__(self, cluster: Cluster, simulator: Simulator, resource: str) -> None:
        self._cluster, self._simulator, self._resource = cluster, simulator, resource
        self.seen: list[Seen] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.error: Exception | None = None

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_error: object) -> None:
        self._ended.set()
        self._thread.join(30)
        if kind is None:
            assert self.error is None, f"the watch itself failed: {self.error!r}"

    def _work(self) -> None:
        try:
            while not self._ended.wait(STEP):
                # The approval is asked for first: what is seen then was so when it came, or became so since.
                approved = bool(self._simulator.approvals())
                self.seen.append(Seen(time.monotonic(), self._cluster.where(self._resource), approved))
        except Exception as error:  # told by the test, in its own thread
            self.error = error

    def before_approval(self) -> Seen:
        """Return what was seen last before the approval."""
        first = next(number for number, one in enumerate(self.seen) if one.approved)
        return self.seen[first - 1]

    def approved_at(self) -> float | None:
        return next((one.at for one in self.seen if one.approved), None)

    def runs_on_since(self, node: str) -> float | None:
        return next((one.at for one in self.seen if node in one.nodes), None)

    def longest(self, is_so: t.Callable[[Seen], bool]) -> float:
        """Return for how many seconds at most something was so without a break."""
        longest, began = 0.0, None
        for one in self.seen:
            began = (began if began is not None else one.at) if is_so(one) else None
            longest = max(longest, one.at - began if began is not None else 0.0)
        return longest

    def pause(self) -> float:
        """Return for how many seconds at most it ran nowhere."""
        return self.longest(lambda one: not one.nodes)

    def twice(self) -> float:
        """Return for how many seconds at most it ran on two nodes at once."""
        return self.longest(lambda one: len(one.nodes) > 1)
