"""Lowers LibCST's tree to the program form, exactly as ``lower_ast`` lowers the standard library's.

LibCST reads the grammars of all Python versions, whichever one runs; it is thirteen times slower than ``ast``.

There is valid code that LibCST does not read, and it is refused here, never lowered to something else: an annotated
target in parentheses (``(a): int``), a positional argument of a class after a keyword, an escaped line end in a raw
f-string of one quote, a line end after the ``async`` of a comprehension, and a continuation before some colons. On the
other hand LibCST lets through some mistakes that a Python parser would not.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings

import libcst

from mtp_trace.syntax.cst_positions import Span, record_lines
from mtp_trace.syntax.cst_statements import StatementLowering
from mtp_trace.syntax.form import Node
from mtp_trace.syntax.nesting import nests_too_deeply

_STACK_BYTES = 64 << 20
_FRAMES = 12_000
_lock = threading.Lock()


def lower_module_cst(text: str) -> list[Node]:
    """Program form of a module's text.

    Raises SyntaxError with the line where LibCST cannot parse the text, or where the form has no place for what the
    text says; and RecursionError where the text nests too deeply.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SyntaxError("source code cannot contain null bytes", ("", line, 0, ""))
    if nests_too_deeply(text):
        raise RecursionError("the code nests too deeply")
    module, spans = _on_a_deep_stack(text)
    with warnings.catch_warnings():
        # An invalid escape in the analysed code is not this program's to warn about.
        warnings.simplefilter("ignore")
        return StatementLowering(module, spans).block(module.body)


def _parse(text: str) -> tuple[libcst.Module, dict[int, Span]]:
    try:
        module = libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        raise _refusal(error, text) from error
    except (RecursionError, MemoryError):
        raise
    except Exception as error:  # LibCST fails on some valid code, such as a line end after a comprehension's async
        raise SyntaxError(f"LibCST cannot parse this ({error})") from error
    return module, record_lines(module, text)


def _refusal(error: libcst.ParserSyntaxError, text: str) -> SyntaxError:
    """What LibCST says, without the list of all tokens that it would have taken.

    The place stands in the message; ``raw_line`` is one off, one way or the other. A tokenizer error names no place.
    """
    place = re.search(r"error at (\d+):", error.message)
    if place is None:
        return SyntaxError(error.message.removeprefix("tokenizer error: "))
    return SyntaxError("invalid syntax", ("", min(int(place[1]), text.count("\n") + 1), 0, ""))


def _on_a_deep_stack(text: str) -> tuple[libcst.Module, dict[int, Span]]:
    """Parse on a thread with room enough: LibCST's parser recurses on the C stack, its printer on Python's."""
    parsed: list[tuple[libcst.Module, dict[int, Span]]] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            parsed.append(_parse(text))
        except BaseException as error:
            failed.append(error)

    with _lock:
        stack, frames = threading.stack_size(_STACK_BYTES), sys.getrecursionlimit()
        sys.setrecursionlimit(max(frames, _FRAMES))
        try:
            thread = threading.Thread(target=work, name="parse", daemon=True)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(frames)
            threading.stack_size(stack)
    for error in failed:
        if type(error).__name__ == "PanicException":  # LibCST's parser met what it did not expect
            raise SyntaxError(f"LibCST cannot parse this ({error})") from error
        raise error
    return parsed[0]
