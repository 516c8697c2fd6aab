# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A wall clock that is ahead by CLOCK_SHIFT seconds, in a run of Ansible and in the modules of its local hosts: a schedule's next pass without its minutes.

Durations (C(time.monotonic), pauses) stay what they are. The times of files do, too: they look older by the shift.
"""

import os
import sys
import time

VARIABLE = "CLOCK_SHIFT"
REAL_TIME = time.time


def use_if_wanted():
    """Shift the clock of this process, if the environment says so; also for what it has imported."""
    # A warm process is forked from one with another shift, or without one.
    if VARIABLE in os.environ or time.time is not REAL_TIME:
        _use(float(os.environ.get(VARIABLE, 0)))


def _use(seconds):
    import datetime

    before, after = datetime.datetime, _shifted(getattr(datetime.datetime, "real", datetime.datetime))
    time.time = lambda: REAL_TIME() + seconds
    time.time_ns = lambda: int(time.time() * 1e9)
    for module in list(sys.modules.values()):
        if getattr(module, "datetime", None) is before:
            module.datetime = after


def _shifted(real):
    """Return the class C(datetime) with another C(now). Its objects are those of the real one."""

    class Kind(type):
        def __instancecheck__(cls, instance):
            return isinstance(instance, real)

    class Shifted(real, metaclass=Kind):
        def __new__(cls, *arguments, **more):
            return real(*arguments, **more)

        @classmethod
        def now(cls, tz=None):
            return real.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls):
            return real.utcfromtimestamp(time.time())

    for name in ("fromtimestamp", "utcfromtimestamp", "fromisoformat", "fromordinal", "combine", "strptime"):
        setattr(Shifted, name, staticmethod(getattr(real, name)))
    Shifted.real = real
    return Shifted
