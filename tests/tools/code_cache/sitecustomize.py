# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Python imports this in each process that has this folder on PYTHONPATH."""

import gc
import os
import sys
import time

import code_cache
import metadata_guard
import module_cache
import routing_cache
import shifted_clock
import template_cache

code_cache.use_if_wanted()
metadata_guard.use_if_wanted()
module_cache.use_if_wanted()
routing_cache.use_if_wanted()
template_cache.use_if_wanted()
shifted_clock.use_if_wanted()

# ansible-playbook forks for each task of each host. What was there before is then looked at by no one: else each of these
# processes copies all of it, page by page, to see whether something may be thrown away.
gc.set_threshold(50_000, 20, 20)
os.register_at_fork(before=gc.freeze, after_in_parent=gc.unfreeze)

# ansible-playbook looks a thousand times a second whether a task has ended, also while a host waits: some tenth of its processor time. Two hundred are enough.
POLL, SELDOM = 0.001, 0.005
if os.path.basename(sys.argv[0]) == "ansible-playbook":
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(SELDOM if seconds == POLL else seconds)
