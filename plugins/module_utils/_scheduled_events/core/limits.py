# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Limits on what is read from one VM. Each lies far above real values; a message reports what exceeds a limit, and it is not read.

So neither one VM nor a directory full of files can slow or fill up the run that reads it.
"""

from __future__ import annotations

# Events in one document. A real document has a few; one event may name many of a scale set's 1,000 VMs.
EVENTS = 1000
# Records of events on one VM. They are pruned a day after their recovery.
RECORDS = 500
# Replicas of other VMs' records that one VM keeps.
COPIES = 2000
# Bytes of one replica: it holds findings only. A hundred servers at five balancers fit, and one VM's replicas leave room for those of other VMs.
REPLICA_BYTES = 64 * 1024
# Leases on one VM: one for each run and event. They last six hours at most.
LEASES = 200
# Progress marks of rolling upgrades on one VM.
MARKS = 200
# Levels of nesting in JSON. A real document has four, a record with its options ten.
DEPTH = 40
# Digits of a whole number in JSON: more than 128 bits need, since unknown keys may hold such numbers, and few enough to be parsed at
# once (5,000 digits take older versions of Python long).
DIGITS = 40
# Characters of one text: a name, a description, a reason. A real description has 200.
TEXT = 4096
# Bytes of one file in the records' directory. A record has a few thousand.
FILE_BYTES = 1024 * 1024
# Bytes of a record without blanks, in ASCII. Below FILE_BYTES, so that each record that can be read can also be written, with blanks or without.
RECORD_BYTES = 512 * 1024
# Files in the records' directory: all of the above, records that were set aside, and temporary files of killed writers.
FOLDER_FILES = 5000
# Bytes read from the directory after one listing of it. 500 records with five methods and 2,000 replicas have 6 MiB. Together with a document's
# events they fit into the largest answer that the controller accepts (plugin_utils/_answers/limits.py).
FOLDER_BYTES = 12 * 1024 * 1024
# Bytes of one answer of the endpoint. A real one has a few thousand; 1,000 events of 200 bytes fit five times.
ANSWER_BYTES = 1024 * 1024
# Entries of a record's history: the first and the last ones are kept.
HISTORY_FIRST, HISTORY_LAST = 20, 180
# Drain methods in one record. A VM has one to five.
METHODS = 100
# Attempts to drain that a record counts. Retries are limited to a handful; the doubled pause between them must stay finite.
ATTEMPTS = 1000
# The highest revision of a record: one a second for three years. Above it, the next file name could not be formed.
REVISION = 10**8
# Bytes of the entries in one answer, and the separators in them, which stand for values, in texts, too. Below what the controller accepts of one answer.
HISTORY_BYTES, HISTORY_VALUES = 12 * 1024 * 1024, 800_000
# Entries of one VM that a report or an archive takes at once, the last ones: its history and its records within all limits are 4,500.
HISTORY_ENTRIES = 5000
