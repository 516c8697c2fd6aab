# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""iis.json of the played machine: {"sites": {name: {state, pool}}, "pools": {name: state}, "connections": {site: number}}.

A pool in "slow" stays Stopping until a test says otherwise.
"""

from __future__ import annotations

EMPTY = {"sites": {}, "pools": {}, "connections": {}, "slow": []}


def read(machine):
    return dict(EMPTY, **machine.read("iis.json", {}))


def write(machine, world):
    machine.write("iis.json", world)
