# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bound the memory that this process takes: beyond it Python raises MemoryError, where the kernel would otherwise end the largest process it finds.

Only on Linux: the kernel of macOS takes such a limit and does not keep it.
"""

from __future__ import annotations

import contextlib
import pathlib
import resource
import typing as t

# Its first number is the address space in pages.
STATM = pathlib.Path("/proc/self/statm")


class MemoryBound(contextlib.AbstractContextManager["MemoryBound"]):
    """Within it this process may take so many bytes of address space more than it has."""

    def __init__(self, more: int) -> None:
        self._before, self._hard = resource.getrlimit(resource.RLIMIT_AS)
        self._within = self._before
        if STATM.exists():
            wanted = int(STATM.read_text().split()[0]) * resource.getpagesize() + more
            self._within = wanted if self._before == resource.RLIM_INFINITY else min(wanted, self._before)

    def __enter__(self) -> MemoryBound:
        self._set(self._within)
        return self

    def __exit__(self, *_error: object) -> None:
        self._set(self._before)

    @contextlib.contextmanager
    def lifted(self) -> t.Iterator[None]:
        """Start a program, which would inherit the bound."""
        self._set(self._before)
        try:
            yield
        finally:
            self._set(self._within)

    def _set(self, soft: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (soft, self._hard))
