# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A simulator of Azure's Scheduled Events endpoint. Standard library only, Python 3.8 or newer."""

from __future__ import annotations

VERSION = "1.0.0"
