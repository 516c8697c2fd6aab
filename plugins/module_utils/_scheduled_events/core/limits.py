# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""How much of one VM is read. Each number lies far above anything real; what passes it is said in words and not read.

So one VM cannot slow or fill up the run that asks it, and neither can a directory that somebody has filled.
"""

from __future__ import annotations

# Events in one document. A scale set of 1,000 VMs gets one event for many of them; a document has a handful.
EVENTS = 1000
# Records of events on one VM. They are pruned a day after they are over.
RECORDS = 500
# Copies of other VMs' records that one VM keeps.
COPIES = 2000
# Bytes of one copy: it holds findings only. A hundred servers at five balancers fit, and one VM's copies leave room for those of the others.
COPY_BYTES = 64 * 1024
# Leases (claims) on one VM: one for each run and event. They last six hours at most.
LEASES = 200
# Progress marks of rolling upgrades on one VM.
MARKS = 200
# Levels of nesting in JSON. A real document has four, a record with its options ten.
DEPTH = 40
# Digits of a whole number in JSON: more than 128 bits have, as others may write into keys that nobody here knows, and few enough to be
# read at once (5,000 digits take older versions of Python long).
DIGITS = 40
# Letters of one text: a name, a description, a reason. A description of Azure's has 200.
TEXT = 4096
# Bytes of one file in the records' directory. A record has a few thousand.
FILE_BYTES = 1024 * 1024
# Bytes of a record without blanks, in ASCII. Below FILE_BYTES, so that what can be read can also be written again with blanks or without.
RECORD_BYTES = 512 * 1024
# Files in the records' directory: all of the above, what was set aside, and what killed writers left.
FOLDER_FILES = 5000
# Bytes that are read from the directory after one listing of it. 500 records with five methods and 2,000 copies have 6 MiB. With a document's
# events they fit into what the controller takes as one answer (plugin_utils/_answers/limits.py).
FOLDER_BYTES = 12 * 1024 * 1024
# Bytes of one answer of the endpoint. A real one has a few thousand; 1,000 events of 200 bytes fit five times.
ANSWER_BYTES = 1024 * 1024
# Entries of a record's history: the first ones and the last ones are kept.
HISTORY_FIRST, HISTORY_LAST = 20, 180
# Drain methods in one record. A VM has one to five.
METHODS = 100
# Attempts to drain that a record counts. Retries are limited to a handful; a wait that doubles must not become infinite.
ATTEMPTS = 1000
# The highest revision that a record counts to: one a second for three years. Above it no next file name would fit some day.
REVISION = 10**8
