# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Modules in processes that need not start: "server.py SOCKET". It ends when its standard input does.

Most of what a module costs is the start of Python and the import of the same files. This process has done both, and forks one for
each module: with the client's arguments, environment, working directory, umask and files, and with its end. What is imported here
counts only if the payload carries the same bytes; otherwise the forked process becomes a Python started as ever.
"""

from __future__ import annotations

import atexit
import base64
import builtins
import gc
import importlib
import importlib.machinery
import io
import os
import pathlib
import re
import selectors
import signal
import socket
import sys
import threading
import traceback
import types
import typing as t
import zipfile
import zlib

import immortal

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The code cache, where it is used, has put its own in its place.
compile_anew = getattr(sys.modules.get("code_cache"), "compile_anew", builtins.compile)
COLLECTION = "ansible_collections.maintenance.azure.plugins.module_utils"
WANTED = (
    "ansible.module_utils.basic",
    "ansible.module_utils.urls",
    "ansible.module_utils._internal._ansiballz._loader",
    "ansible.module_utils._internal._json._profiles._module_legacy_c2m",
    "ansible.module_utils._internal._json._profiles._module_legacy_m2c",
)
# Ansible writes these packages itself, into each payload; they hold nothing.
WRITTEN = re.compile(r"ansible(\.modules|\.module_utils)?|ansible_collections(\.\w+){0,3}|ansible_collections(\.\w+){2}\.plugins\.(modules|module_utils)")
# What Python reads when it starts: with another value of these, a process would be another.
AT_START = re.compile(r"PYTHON|LC_|LANG$|LANGUAGE$|CODE_CACHE_FOLDER$|TZ$")
PAYLOAD = re.compile(rb"zip_data='([A-Za-z0-9+/=]+)'|zip_data=\"([A-Za-z0-9+/=]+)\"")


class Known(t.NamedTuple):
    """A module that is imported already, and the checksum of its source."""

    module: types.ModuleType
    checksum: int


def import_all() -> dict[str, Known]:
    """What modules need, imported and taken out of sys.modules again: a process gets it when its payload turns out to have the same."""
    folder = ROOT / "plugins" / "module_utils"
    own = [".".join(path.relative_to(folder).with_suffix("").parts) for path in sorted(folder.rglob("*.py"))]
    for name in (*WANTED, *(f"{COLLECTION}.{name.removesuffix('.__init__')}" for name in own)):
        importlib.import_module(name)
    found = {}
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ansible", "ansible_collections")]:
        module = sys.modules.pop(name)
        # A module that put another one in its own place is run again.
        if not WRITTEN.fullmatch(name) and module.__name__ == name and getattr(module, "__file__", None):
            found[name] = Known(module, zlib.crc32(pathlib.Path(module.__file__).read_bytes()))
    return found


class Finder:
    """Gives the modules out of the payload that are known, as if they had just been imported from it."""

    def __init__(self, known: dict[str, Known]) -> None:
        self.known = known

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name not in self.known:
            return None
        # Ansible puts the payload there before it imports anything of it.
        place = f"{sys.path[0]}/{name.replace('.', '/')}"
        package = hasattr(self.known[name].module, "__path__")
        spec = importlib.machinery.ModuleSpec(name, t.cast(t.Any, self), origin=f"{place}/__init__.py" if package else f"{place}.py", is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [place]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = self.known[spec.name].module
        module.__file__ = spec.origin
        module.__loader__ = t.cast(t.Any, self)
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        return module

    def exec_module(self, _module: types.ModuleType) -> None:
        """It was, in the server."""


def payload_of(program: bytes) -> dict[str, int] | None:
    """The names of the modules in the payload of a module file, with their checksums; None if it is no such file."""
    found = PAYLOAD.search(program)
    if not found:
        return None
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(found[1] or found[2]))) as archive:
        return {re.sub(r"(/__init__)?\.py$", "", item.filename).replace("/", "."): item.CRC for item in archive.infolist()}


def usable(known: dict[str, Known], payload: dict[str, int] | None) -> dict[str, Known] | None:
    """Those of the known modules that the payload carries; None if it carries another version of any."""
    if payload is None or any(payload.get(name, one.checksum) != one.checksum for name, one in known.items()):
        return None
    return {name: one for name, one in known.items() if name in payload}


STDIN = "-"


class Request(t.NamedTuple):
    arguments: list[str]  # the first is the program: a path, or STDIN
    umask: int
    environment: dict[bytes, bytes]
    files: list[int]  # standard input, output and error, and the working directory

    def take_over(self) -> None:
        """Make this process look as if the client had started it."""
        for target, number in enumerate(self.files[:3]):
            os.dup2(number, target)
        os.fchdir(self.files[3])
        for number in self.files:
            os.close(number)
        os.umask(self.umask)
        os.environb.clear()
        os.environb.update(self.environment)

    def start_anew(self, said: bytes = b"") -> t.NoReturn:
        """Become a Python started as ever; what was read of standard input is there again."""
        if self.arguments[0] == STDIN:
            again = os.memfd_create("program")
            pathlib.Path(f"/dev/fd/{again}").write_bytes(said)
            os.lseek(again, 0, os.SEEK_SET)
            os.dup2(again, 0)
        os.execv(sys.executable, [sys.executable, *self.arguments])

    def look_started(self) -> None:
        """What Python does at its start, once more in this process."""
        if "sitecustomize" in sys.modules:
            # What it does may depend on the program and its environment.
            del sys.modules["sitecustomize"]
            importlib.import_module("sitecustomize")
        sys.path[0] = "" if self.arguments[0] == STDIN else os.path.dirname(self.arguments[0])


def run_module(request: Request, known: dict[str, Known]) -> None:
    """In the forked process: one of Ansible's modules, in a file or on standard input."""
    (path,) = request.arguments
    program = pathlib.Path("/dev/fd/0" if path == STDIN else path).read_bytes()
    found = usable(known, payload_of(program)) if starts_alike(request.environment) else None
    if found is None:
        request.start_anew(program)
    sys.meta_path.insert(0, t.cast(t.Any, Finder(found)))
    sys.argv = request.arguments
    request.look_started()
    run_program(path, program)


def starts_alike(environment: dict[bytes, bytes]) -> bool:
    return at_start(environment) == AS_STARTED


def at_start(environment: t.Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    return {name: value for name, value in environment.items() if AT_START.match(name.decode("utf-8", "replace"))}


AS_STARTED = at_start(dict(os.environb))


def run_program(path: str, program: bytes) -> None:
    main = types.ModuleType("__main__")
    if path != STDIN:
        main.__file__ = path
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    # Each is another, by its arguments: none is worth keeping in the code cache.
    exec(compile_anew(program, "<stdin>" if path == STDIN else path, "exec", dont_inherit=True), main.__dict__)


def end(function: t.Callable[..., None], *arguments: t.Any) -> t.NoReturn:
    """Run a function as Python runs a program, and end as Python does, but without taking everything apart."""
    code = 1
    try:
        function(*arguments)
        code = 0
    except SystemExit as told:
        code = exit_code(told)
    except BaseException:
        traceback.print_exc()
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        code = code or 120
    os._exit(code)


def exit_code(told: SystemExit) -> int:
    if told.code is None:
        return 0
    if isinstance(told.code, int):
        return told.code & 0xFF
    print(told.code, file=sys.stderr)
    return 1


class Server:
    """Forks a process for each request. ``run`` is what that does, once it has all that the client had."""

    def __init__(self, path: str, run: t.Callable[[Request], None]) -> None:
        self.run = run
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.over = False
        self.selector.register(0, selectors.EVENT_READ, self.stop)

    def serve(self) -> None:
        while not self.over:
            for key, _events in self.selector.select():
                # An earlier one of these may have taken it out, and another have got its number.
                if self.selector.get_map().get(key.fd) is key:
                    key.data()

    def stop(self) -> None:
        self.over = True

    def accept(self) -> None:
        connection, _nobody = self.listener.accept()
        request = read_request(connection)
        if request is None:
            connection.close()
            return
        child = os.fork()
        if child == 0:
            end(self.become, request, connection)
        for number in request.files:
            os.close(number)
        process = os.pidfd_open(child)
        self.selector.register(process, selectors.EVENT_READ, lambda: self.ended(child, process, connection))
        self.selector.register(connection, selectors.EVENT_READ, lambda: self.killed(child, connection))

    def become(self, request: Request, connection: socket.socket) -> None:
        """In the forked process: nothing of the server is left open."""
        os.setsid()
        keys = [key for key in self.selector.get_map().values() if key.fd]
        self.selector.close()
        connection.close()
        for key in keys:
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
            else:
                os.close(key.fd)
        request.take_over()
        self.run(request)

    def killed(self, child: int, connection: socket.socket) -> None:
        """The client is gone, and never sends more than its request: its process goes with it."""
        self.selector.unregister(connection)
        os.kill(child, signal.SIGKILL)

    def ended(self, child: int, process: int, connection: socket.socket) -> None:
        _child, status = os.waitpid(child, 0)
        self.selector.unregister(process)
        os.close(process)
        if connection.fileno() in self.selector.get_map():
            self.selector.unregister(connection)
            try:
                connection.sendall(str(status).encode())
            except OSError:
                # Killed at the same moment: nobody asks any more.
                pass
        connection.close()


def read_request(connection: socket.socket) -> Request | None:
    """What a client asks for, or None if it was killed meanwhile."""
    head, files, _flags, _address = socket.recv_fds(connection, 8, 4)
    length = int.from_bytes(head, "big")
    message = b""
    while len(message) < length and (more := connection.recv(length - len(message))):
        message += more
    if len(files) != 4 or len(message) != length:
        for number in files:
            os.close(number)
        return None
    umask, count, *words = message.split(b"\0")
    arguments, pairs = words[: int(count)], words[int(count) :]
    return Request([os.fsdecode(word) for word in arguments], int(umask), dict(t.cast(t.Any, (pair.split(b"=", 1) for pair in pairs))), files)


def serve(path: str, run: t.Callable[[Request], None]) -> None:
    """Serve until standard input ends."""
    server = Server(path, run)
    gc.collect()
    # What is here stays here: no process needs to look at it, or to write to it, and so to copy it.
    immortal.keep_all()
    gc.freeze()
    print("ready", flush=True)
    # Where it says more, no VM can listen.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.close(silence)
    server.serve()


if __name__ == "__main__":
    modules = import_all()
    serve(sys.argv[1], lambda request: run_module(request, modules))
