# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one exception that the client raises, and words about an answer."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import printable

# What went wrong, for programs. People read the message.
KINDS = (
    "bad_document",  # an answer came, but no scheduled events document in it
    "bad_option",  # an option's value makes no sense
    "bad_request",  # 400, 401, 403, 405: asking again the same way cannot help
    "connection_lost",  # connected, then reset, closed or cut off in the middle
    "http_status",  # another status that is no success
    "no_answer",  # nobody could be connected to
    "not_discovered",  # endpoint: discover found none
    "not_found",  # the answer came, and what was asked for is not in it
    "redirected",  # the answer sends us elsewhere, which we never follow
    "refused",  # this client refuses to do it
    "timeout",  # connected, and no complete answer in time
    "too_large",  # the answer is longer than any real one
    "version_rejected",  # the service does not know the api-version
)


class ScheduledEventsError(Exception):
    """Says in words what came, from where, and what to do; ``kind`` says it to programs."""

    def __init__(
        self,
        message: str,
        kind: str,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        # What was known when it happened; modules return it beside the message.
        self.result: dict[str, t.Any] = {}

    @property
    def answer_lost(self) -> bool:
        """True when the request may have been received and carried out all the same."""
        return self.kind in ("connection_lost", "timeout")

    def with_note(self, note: str) -> ScheduledEventsError:
        """The same error with one more sentence."""
        error = ScheduledEventsError(f"{self.message} {note}", self.kind, self.status, self.retryable, self.retry_after)
        error.result = self.result
        return error


def describe_body(body: bytes | str, limit: int = 200) -> str:
    """What came, short enough for a message and safe to print."""
    if not body:
        return "an empty body"
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    more = f" ... ({len(body)} in all)" if len(text) > limit else ""
    # An escaped letter takes ten places at most.
    return f'"{printable(text[:limit], 10 * limit)}"{more}'


def seconds_in_words(seconds: float) -> str:
    """12.345 becomes "12.3 s", 5.0 becomes "5 s"."""
    return f"{round(seconds, 1):g} s"
