# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An endpoint that answers what a case says, byte by byte, and notes what it was asked."""

from __future__ import annotations

import json
import pathlib
import socket
import struct
import threading
import time
import typing as t

PAYLOADS = pathlib.Path(__file__).resolve().parents[1] / "unit" / "payloads"
# Of what a client sends, that which the service looks at.
HEADERS_THAT_COUNT = ("metadata", "content-type", "x-forwarded-for")
LONG_EVENT = {"EventStatus": "Scheduled", "EventType": "Freeze", "Description": "Übertragung " * 5}

Answer = t.Dict[str, t.Any]


class Endpoint:
    """``script`` has a list of answers for each of ``events``, ``instance`` and ``approval``; the last one repeats."""

    def __init__(self, script: t.Mapping[str, t.Any]) -> None:
        self._script = {kind: list(answers if isinstance(answers, list) else [answers]) for kind, answers in script.items()}
        self.requests: list[dict[str, t.Any]] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        # A thread that blocks in accept() keeps the port open; this wakes it.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                stream = connection.makefile("rb")
                while self._exchange(connection, stream):
                    pass
            except (OSError, ValueError):
                return

    def _exchange(self, connection: socket.socket, stream: t.BinaryIO) -> bool:
        """One request and its answer; whether the connection stays open."""
        words = stream.readline().decode("latin-1").split()
        if len(words) != 3:
            return False
        headers: dict[str, str] = {}
        while line := stream.readline().decode("latin-1").strip():
            name, _colon, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = stream.read(int(headers.get("content-length", "0")))
        self._note(words[0], words[1], headers, body)
        return self._answer(connection, self._next(words[0], words[1]))

    def _note(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        noted: dict[str, t.Any] = {"request": f"{method} {path}"}
        noted.update({name: headers[name] for name in HEADERS_THAT_COUNT if name in headers})
        if body:
            noted["body"] = json.loads(body)
        self.requests.append(noted)

    def _next(self, method: str, path: str) -> Answer:
        kind = "approval" if method == "POST" else "instance" if path.startswith("/metadata/instance") else "events"
        version = path.rpartition("api-version=")[2]
        answers = self._script.get(kind) or [{"status": 404, "vector": "error_404.json"}]
        answer: Answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if version not in answer.get("versions", [version]):
            return {"status": 400, "vector": "error_400_api_version_2018.json"}
        return answer

    def _answer(self, connection: socket.socket, answer: Answer) -> bool:
        if answer.get("reset"):
            # With nothing to linger for, closing sends a reset.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        data = to_bytes(answer)
        if "after" in answer:
            time.sleep(answer["after"])
        for part in _parts(data, answer.get("drip")):
            connection.sendall(part)
            if answer.get("drip"):
                time.sleep(0.1)
        # One connection for each answer, or the Linux way would ask again by itself when a kept one breaks.
        return bool(answer.get("keep"))


def body_of(answer: Answer) -> bytes:
    if "vector" in answer:
        return (PAYLOADS / answer["vector"]).read_bytes()
    if "hex" in answer:
        return bytes.fromhex(answer["hex"])
    if "text" in answer:
        return str(answer["text"]).encode() * answer.get("times", 1)
    if "many" in answer:
        events = [dict(LONG_EVENT, EventId=f"event-{number}", Resources=[f"vm-{number}"]) for number in range(answer["many"])]
        return json.dumps({"DocumentIncarnation": len(events), "Events": events}).encode()
    return json.dumps(answer["json"], ensure_ascii=not answer.get("plain")).encode() if "json" in answer else b""


def to_bytes(answer: Answer) -> bytes:
    """The whole answer on the wire. ``length`` lies about the body, ``cut`` ends after so many bytes of it."""
    if "raw" in answer:
        return str(answer["raw"]).encode("latin-1")
    body = body_of(answer)
    headers = {"Content-Type": "application/json; charset=utf-8", "Connection": "keep-alive" if answer.get("keep") else "close", **answer.get("headers", {})}
    if answer.get("chunked"):
        headers["Transfer-Encoding"] = "chunked"
        sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    else:
        headers["Content-Length"] = str(answer.get("length", len(body)))
        sent = body
    if "cut" in answer:
        sent = sent[: answer["cut"]]
    lines = [f"HTTP/1.1 {answer.get('status', 200)} {answer.get('reason', 'As the case says')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + sent


def _parts(data: bytes, drip: int | None) -> t.Iterator[bytes]:
    size = drip or max(len(data), 1)
    for start in range(0, len(data), size):
        yield data[start : start + size]


def closed_port() -> int:
    """A port of loopback where no VM can listen."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port
