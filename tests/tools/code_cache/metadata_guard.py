# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep tests from the address of Azure's metadata service: the machine that runs them may be a cloud VM.

Wherever C(REFUSE_METADATA_ADDRESS) is set, a connection to 169.254.0.0/16 fails before anything is sent. Suites that make a network
namespace of their own, in which that address is theirs, do not set it (tests/tools/suites.py).
"""

import os

VARIABLE = "REFUSE_METADATA_ADDRESS"
ADDRESSES = "169.254."


def use_if_wanted():
    """Refuse such connections in this process, if the environment says so."""
    if os.environ.get(VARIABLE):
        _refuse()


def _refuse():
    import socket

    class Guarded(socket.socket):
        __slots__ = ()

        def connect(self, address):
            _check(address)
            return super().connect(address)

        def connect_ex(self, address):
            _check(address)
            return super().connect_ex(address)

        def sendto(self, data, *given):
            _check(given[-1])
            return super().sendto(data, *given)

    socket.socket = Guarded


def _check(address):
    if isinstance(address, tuple) and str(address[0]).startswith(ADDRESSES):
        raise PermissionError(f"A test asked {address[0]}, which may be a real metadata service. It must set an endpoint on loopback.")
