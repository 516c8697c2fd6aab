# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looks at what users and people would see. It never reads a record of the collection."""

from __future__ import annotations

import dataclasses
import typing as t

from .balancer import Balancer
from .guest import Guest


@dataclasses.dataclass(frozen=True)
class Service:
    """How a VM serves: equal before and after, or it was not put back."""

    nginx: str
    enabled: str
    health_file: tuple[str, int, int, int] | None
    balancer: str
    page: str


class Oracle:
    def __init__(self, guests: dict[str, Guest], balancer: Balancer, ask: t.Callable[..., str]) -> None:
        self._guests, self._balancer, self._ask = guests, balancer, ask

    def how_users_reach(self, vm: str) -> dict[str, t.Any]:
        """Whether users still get to it, at this very moment, as the load balancer says."""
        row = self._balancer.servers()[vm]
        sessions = int(row["scur"] or 0)
        return {"status": row["status"], "sessions": sessions, "out": not row["status"].startswith(("UP", "no check")) and sessions == 0}

    def service(self, vm: str) -> Service:
        guest = self._guests[vm]
        return Service(
            nginx=self._ask(vm, "systemctl is-active nginx.service"),
            enabled=self._ask(vm, "systemctl is-enabled nginx.service"),
            health_file=guest.health_file(),
            balancer=self._balancer.servers()[vm]["status"],
            page=self._ask(vm, "cat /srv/www/index.html")[:20],
        )

    def services(self) -> dict[str, Service]:
        return {vm: self.service(vm) for vm in self._guests}
