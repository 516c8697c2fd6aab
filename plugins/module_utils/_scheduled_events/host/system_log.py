# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The log of the VM's operating system."""

from __future__ import annotations

try:
    import syslog
except ImportError:  # not every system has one
    syslog = None  # type: ignore[assignment]


def log_to_syslog(line: str) -> None:
    """Write one line, as a notice. Without a log to write to, do nothing."""
    if syslog is not None:
        syslog.openlog("maintenance.azure", syslog.LOG_PID, syslog.LOG_DAEMON)
        syslog.syslog(syslog.LOG_NOTICE, line)
        syslog.closelog()
