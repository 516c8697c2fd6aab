# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Who takes new sessions in a backend while a server is out of it, from HAProxy's own tables. Pure. What a table does not say never counts as serving."""

from __future__ import annotations

import typing as t

from ._scheduled_events.core.types import Data, Values

Row = Values
# By backend and server.
Key = t.Tuple[str, str]
Rows = t.Mapping[Key, Row]

# srv_op_state: 0 stopped, 1 starting (slowstart), 2 running, 3 stopping (its check asks for no new sessions).
OPERATIONAL = (1, 2)
# Bits of srv_admin_state. Maintenance: set, inherited, by a name that does not resolve. Drain: set, inherited. "Disabled in the configuration" stays set
# when a server is made ready, and keeps nothing out.
KEPT_OUT, DISABLED = 0x63 | 0x18, 0x04
CHECK_ENABLED = 0x04
PASSED = ("L4OK", "L6OK", "L7OK", "L7OKC", "PROCOK")
NOT_RUN = ("", "INI", "UNK")
# Of a server that has none: a slot of server-template, or one whose name does not resolve.
NO_ADDRESS = ("", "-", "0.0.0.0", "::")
# Servers may follow others that follow others.
LONGEST_CHAIN = 10
MOST_NAMED, LONGEST_STATUS = 10, 80
# In keep and away: every backend that is not named.
ANY = "*"


class Guard(t.NamedTuple):
    """What a server that leaves has to leave behind."""

    keep: t.Mapping[str, int] = {}
    """By backend, or ANY, how many other servers must take sessions; nothing is asked where it is empty."""
    away: t.Mapping[str, t.Sequence[str]] = {}
    """By backend, or ANY, the servers that leave, too: they do not count."""
    backups: bool = False
    """Whether servers with backup count."""

    def asked(self, backend: str) -> int:
        """Return how many servers must be left in a backend."""
        return self.keep.get(backend, self.keep.get(ANY, 0))

    def is_away(self, backend: str, server: str) -> bool:
        """Return whether a server leaves, too."""
        return server in self.away.get(backend, ()) or server in self.away.get(ANY, ())


def left(rows: Rows, server: str, backends: t.Collection[str], guard: Guard) -> dict[str, Data]:
    """Return who is left in each of these backends, and in those with a server that follows this one by C(track): it goes with it."""
    going = {(backend, server): "" for backend in backends}
    for key in rows:
        tracked = next((one for one in chain(rows, key)[1:] if one in going and not going[one]), None)
        if tracked and key not in going:
            going[key] = tracked[0]
    names: dict[str, tuple[str, str]] = {}
    for (backend, name), tracks in going.items():
        # The server itself comes before one of the same backend that follows it.
        names.setdefault(backend, (name, tracks))
    by_backend: dict[str, list[tuple[str, Row]]] = {backend: [] for backend in names}
    for (backend, name), row in rows.items():
        if backend in names and (backend, name) not in going:
            by_backend[backend].append((name, row))
    return {
        backend: {
            "server": name,
            "tracks": tracks,
            "address": _text(rows[backend, name].get("srv_addr")),
            **_goes(rows, [rows[key] for key in going if key[0] == backend], by_backend[backend]),
            **_stays(rows, backend, by_backend[backend], guard),
        }
        for backend, (name, tracks) in names.items()
    }


def _goes(rows: Rows, own: t.Sequence[Row], others: t.Sequence[tuple[str, Row]]) -> dict[str, bool]:
    """Return whether what leaves takes new sessions, and whether it would if it were ready. What is not known does."""
    takes = any(not _kept_out(row) and not (_is_backup(row) and _has_active(others)) for row in own)
    return {"takes": takes, "weighs": any(map(_weighs, own))}


def _has_active(others: t.Sequence[tuple[str, Row]]) -> bool:
    """Return whether a backup gets nothing, because another server does."""
    return any(not _kept_out(row) and _is_backup(row) is False for _name, row in others)


def _stays(rows: Rows, backend: str, others: t.Sequence[tuple[str, Row]], guard: Guard) -> Data:
    serving: list[str] = []
    out: list[dict[str, str]] = []
    candidates = missing = 0
    for name, row in others:
        is_spare = not guard.backups and _is_backup(row) is True
        if _text(row.get("srv_addr"), "?") in NO_ADDRESS:
            continue
        candidates += not is_spare
        why = "away" if guard.is_away(backend, name) else why_not(rows, (backend, name)) or ("backup" if is_spare else "")
        if not why:
            serving.append(name)
            continue
        missing += 1
        if len(out) < MOST_NAMED:
            out.append({"name": name, "status": _text(row.get("status"))[:LONGEST_STATUS], "why": why})
    return {"others": len(serving), "names": serving[:MOST_NAMED], "candidates": candidates, "missing": missing, "out": out, "asked": guard.asked(backend)}


def is_short(entry: Values) -> bool:
    """Return whether too few servers would be left. Where there is no other server at all, there is none to wait for."""
    return bool(entry["candidates"] and entry["others"] < entry["asked"])


def why_not(rows: Rows, key: Key) -> str:
    """Return why a server does not count as one that takes new sessions: down, admin, weight, unchecked, failing or unknown; an empty text where it does."""
    row = rows[key]
    if why := _kept_out(row):
        return why
    numbers = [_number(row, name) for name in ("srv_op_state", "srv_admin_state", "srv_uweight", "weight")]
    if None in numbers or numbers[0] not in OPERATIONAL or (numbers[1] or 0) & ~DISABLED or _is_backup(row) is None:
        return "unknown"
    return _unproven(rows, key)


def _kept_out(row: Row) -> str:
    """Return what keeps new sessions from a server, if HAProxy says that something does."""
    if (_number(row, "srv_admin_state") or 0) & KEPT_OUT:
        return "admin"
    state = _number(row, "srv_op_state")
    if state is not None and state not in OPERATIONAL:
        return "down"
    return "" if _weighs(row) else "weight"


def _weighs(row: Row) -> bool:
    # What an agent makes of the weight counts, too: half of 1 is 0.
    return 0 not in (_number(row, "srv_uweight"), _number(row, "weight"))


def _unproven(rows: Rows, key: Key) -> str:
    """Return why the check of a server, or of the one that it follows, does not say that it serves. After a start HAProxy calls all of them up."""
    links = chain(rows, key)
    row = rows.get(links[-1])
    if row is None or row.get("tracked") is None or row["tracked"] or (state := _number(row, "srv_check_state")) is None:
        return "unknown"
    # While a check is in flight, its status is the last one, behind a star.
    status = _text(row.get("check_status")).lstrip("* ")
    if not state & CHECK_ENABLED or status in PASSED:
        return ""
    return "unchecked" if status in NOT_RUN else "failing"


def chain(rows: Rows, key: Key) -> list[Key]:
    """Return a server, the one that it follows by C(track), and so on."""
    found = [key]
    while len(found) <= LONGEST_CHAIN:
        backend, slash, name = _text(rows.get(found[-1], {}).get("tracked")).partition("/")
        if not slash:
            break
        found.append((backend, name))
    return found


def _is_backup(row: Row) -> bool | None:
    """Return whether a server only serves when no other does; None where HAProxy does not say it."""
    given = _text(row.get("bck"))
    return given == "1" if given in ("0", "1") else None


def _number(row: Row, key: str) -> int | None:
    value = _text(row.get(key))
    return int(value) if len(value) < 10 and value.isascii() and value.isdigit() else None


def _text(value: t.Any, otherwise: str = "") -> str:
    return value if isinstance(value, str) else otherwise
