# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The one exception that the client raises, and helpers that describe an answer."""

from __future__ import annotations

import errno

from .printable_text import printable
from .types import Data

# Kinds of failures, for programs; the message is for operators.
KINDS = (
    "bad_document",  # the answer has no scheduled events document
    "bad_option",  # the value of an option is not usable
    "bad_request",  # 400, 401, 403, 405: the same request would fail again
    "connection_lost",  # connected, then reset, closed or cut off in the middle
    "http_status",  # any other status that is not a success
    "no_answer",  # no connection could be made
    "not_discovered",  # no endpoint was discovered (endpoint: discover)
    "not_found",  # the answer lacks what was asked for
    "redirected",  # the answer is a redirect, which the client never follows
    "refused",  # the client refuses to do it
    "timeout",  # connected, but no complete answer in time
    "too_large",  # the answer is longer than any real one
    "version_rejected",  # the service does not know the api-version
)


# A full or read-only disk needs no explanation of what a folder of records needs.
SELF_EXPLANATORY = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class ScheduledEventsError(Exception):
    """A failed request: the message names the answer, its source and a remedy; ``kind`` classifies the failure for programs."""

    def __init__(self, message: str, kind: str, status: int | None = None, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        # What was known when the request failed; modules return it beside the message.
        self.result: Data = {}

    @property
    def answer_lost(self) -> bool:
        """Return whether the service may have received and carried out the request."""
        return self.kind in ("connection_lost", "timeout")

    def with_note(self, note: str) -> ScheduledEventsError:
        """Return the same error with one more sentence."""
        error = ScheduledEventsError(f"{self.message} {note}", self.kind, self.status, self.retryable, self.retry_after)
        error.result = self.result
        return error


def describe_body(body: bytes | str, limit: int = 200) -> str:
    """Return the body as text that is short enough for a message and safe to print."""
    if not body:
        return "an empty body"
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    more = f" ... ({len(body)} in all)" if len(text) > limit else ""
    # An escaped character takes at most ten places.
    return f'"{printable(text[:limit], 10 * limit)}"{more}'


def cannot_write(where: str, error: Exception) -> str:
    """Return the sentence about a folder of records in which nothing can be written."""
    why = getattr(error, "strerror", None) or error
    needed = "" if getattr(error, "errno", None) in SELF_EXPLANATORY else "; needed is a directory, on a file system with hard links, that this user may write"
    return f"cannot write records to {where}: {why}{needed}."


def seconds_in_words(seconds: float) -> str:
    """Format seconds for a message: 12.345 becomes "12.3 s", 5.0 becomes "5 s"."""
    return f"{round(seconds, 1):g} s"
