# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make every object of this process immortal, as Python 3.12 makes None: to use one then writes nothing.

A forked process shares the memory of its parent, page by page, until either writes to it, and Python writes to each object that it looks at, to count who
does. So each forked process copied the pages of all that it used, which was a sixth of its processor time. What runs is the same; only servers of warm
processes use this, whose forked processes end without taking anything apart.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import sysconfig
import types
import typing as t

# The count of references is the first thing of an object, in its lower half, and that of None says that nothing is counted.
KNOWN = sys.implementation.name == "cpython" and sys.version_info >= (3, 12) and sys.byteorder == "little" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def keep_all() -> int:
    """Return how many objects are immortal from now on; 0 in a Python that knows no such objects."""
    if not KNOWN:
        return 0
    found: list[t.Any] = gc.get_objects()
    kept: dict[int, t.Any] = {}
    while found:
        new = {id(one): one for one in found if id(one) not in kept}
        kept.update(new)
        found = gc.get_referents(*new.values())
        # These alone do not say what they refer to.
        for one in new.values():
            if isinstance(one, types.CodeType):
                found += (one.co_consts, one.co_names)
    never = ctypes.c_uint32.from_address(id(None)).value
    for place in kept:
        ctypes.c_uint32.from_address(place).value = never
    return len(kept)
