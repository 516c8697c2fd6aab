# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No test asks the address of Azure's metadata service. What is asked here is never reached: the guard raises before."""

import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "tests" / "tools" / "code_cache"
ASK = """
import socket
import urllib.request
real = socket.socket.__mro__[1].connect
socket.socket.__mro__[1].connect = lambda self, address: print("reached", address)  # nothing is sent, whatever happens
try:
    {call}
    print("asked")
except OSError as error:
    print(type(error).__name__, error)
"""


def asked(call: str, **environment: str) -> str:
    surroundings = {**os.environ, "PYTHONPATH": str(FOLDER), "CODE_CACHE_FOLDER": "", **environment}
    done = subprocess.run([sys.executable, "-c", ASK.format(call=call)], env=surroundings, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.parametrize("call", ['socket.create_connection(("169.254.169.254", 80), 1)', 'socket.socket().connect(("169.254.169.254", 80))'])
def test_the_metadata_address_is_refused_before_anything_is_sent(call: str) -> None:
    found = asked(call, REFUSE_METADATA_ADDRESS="1")
    assert "which may be a real metadata service" in found
    assert "reached" not in found


def test_loopback_is_not() -> None:
    assert "reached ('127.0.0.1', 9)" in asked('socket.socket().connect(("127.0.0.1", 9))', REFUSE_METADATA_ADDRESS="1")
