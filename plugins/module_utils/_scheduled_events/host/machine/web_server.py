# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The sites and application pools of IIS on a VM."""

from __future__ import annotations

import typing as t

States = t.Dict[str, str]


class WebServer(t.Protocol):
    """IIS on one VM. Raise OSError where it cannot be reached, or refuses. States are Started, Starting, Stopped, Stopping and Unknown."""

    def sites(self, names: t.Sequence[str]) -> States:
        """Return the state of each site that exists, by its name."""

    def pools(self, names: t.Sequence[str]) -> States:
        """Return the state of each application pool that exists, by its name."""

    def set_sites(self, names: t.Sequence[str], state: str) -> None:
        """Start or stop existing sites (state: started or stopped)."""

    def set_pools(self, names: t.Sequence[str], state: str) -> None:
        """Start or stop existing application pools (state: started or stopped)."""

    def connections(self) -> dict[str, int] | None:
        """Return how many connections each site has, by its name in lower case, or None where Windows reports none."""
