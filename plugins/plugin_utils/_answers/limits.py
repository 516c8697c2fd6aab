# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Limits on what the controller accepts of one VM in one answer. What a VM reads itself has limits of its own, on the VM."""

from __future__ import annotations

# Bytes of a whole answer, as the module prints it. A VM at all of its limits (module_utils/_scheduled_events/core/limits.py) sends 8 MiB: 2.2 of
# events (a document of 1 MiB, raw and typed), 1.4 of 500 records with five methods, 4.1 of 2,000 replicas, less than 0.4 of leases, marks and tombstones.
# FOLDER_BYTES there keeps larger files below this limit as well: 12 MiB of them and the document are less than 16.
BYTES = 16 * 1024 * 1024
# Values in an answer, counted by their separators before it is parsed: each costs a few microseconds here, however few bytes it has. The answer
# above has 480,000; reading and planning with a million takes less than 4 s.
VALUES = 1_000_000
# Bytes of memory that a worker may take more while it reads a VM. Values and bytes at the limits here take half of it.
MEMORY = 256 * 1024 * 1024
# Characters of a text that is not a sentence, such as an id. The VM limits each of its texts to 4,096.
TEXT = 16 * 1024
# Names of resources in the events of an answer, all together, and as many in its records. The plan and the play's tasks repeat them: each costs 0.3 ms of
# processor time in each iteration, for all VMs. Twenty events that name all 1,000 VMs of a scale set fit.
NAMES = 20_000
# Levels of nesting. A record has up to 40 levels, and lies three deeper in an answer.
DEPTH = 50
# Digits of a whole number. Azure's counters have up to 18.
DIGITS = 40
# Characters of messages and warnings, and the number of warnings.
LINE = 4000
WARNINGS = 10
WARNING = 500
# Characters of a name or a word that messages repeat, such as a server's, and how many of many a module shows.
WORD = 200
SHOWN = 10
# Backends of one balancer with a VM's server, or one that follows it.
BACKENDS = 1000
# Characters of an output that is not an answer, for troubleshooting.
OUTPUT = 2000
