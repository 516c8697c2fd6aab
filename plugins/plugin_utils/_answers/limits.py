# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""How much the controller accepts of one VM in one answer. What a VM itself reads has limits of its own, on the VM."""

from __future__ import annotations

# Whole answers, as the module prints them. A VM at each of its own limits (module_utils/_scheduled_events/core/limits.py) says 8 MiB: 2.2 of events (a
# document of 1 MiB, as it came and typed), 1.4 of 500 records with five methods, 4.1 of 2,000 copies, less than 0.4 of leases, marks and tombstones.
# FOLDER_BYTES there keeps larger files below this figure as well: 12 MiB of them and the document are less than 16.
BYTES = 16 * 1024 * 1024
# Values in an answer, counted by their separators before it is parsed: each costs a few microseconds here, however few bytes it has. The answer
# above has 480,000; a million take less than 4 s to read and to plan with.
VALUES = 1_000_000
# Of a text that is no sentence, such as an id. What a VM keeps has at most 4,096 characters in each of its own.
TEXT = 16 * 1024
# A record nests up to 40 levels, and lies three deeper in an answer.
DEPTH = 50
# Of a whole number. Azure's counters have up to 18.
DIGITS = 40
# Of messages and warnings, which people read.
LINE = 4000
WARNINGS = 10
WARNING = 500
# Of an output that is no answer, for whoever has to find out why.
OUTPUT = 2000
