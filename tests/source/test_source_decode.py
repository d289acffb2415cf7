from __future__ import annotations

import pytest

from mtp_trace.errors import SourceError
from mtp_trace.source import decode_source


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\r\ny = 2\rz = 3\n", "x = 1\ny = 2\nz = 3\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("# größe\n".encode(), "# größe\n"),
        ("# -*- coding: latin-1 -*-\n# größe\n".encode("latin-1"), "# -*- coding: latin-1 -*-\n# größe\n"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# \x80\n",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# €\n",
        ),
        (b"", ""),
    ],
)
def test_decodes_as_python_does(data: bytes, text: str) -> None:
    assert decode_source(data, "f.py") == text


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"x = 1\ny = '\xff'\n", 11),
        (b"\xff\n", 0),
        (b"\xef\xbb\xbfx = 1\ny = 2\nz = 3\n\xff", 21),
        (b"# coding: ascii\n#\xc3\xa4\n", 17),
        (b"x\0y", 1),
        (b"# coding: no-such-codec\n", 0),
        (b"# coding: punycode\n", 0),
        (b"# coding: hex\n00", 0),
        (b"\xef\xbb\xbf# coding: latin-1\n", 0),
    ],
)
def test_says_where_it_cannot(data: bytes, offset: int) -> None:
    with pytest.raises(SourceError) as caught:
        decode_source(data, "sglang/f.py")
    assert caught.value.where == f"sglang/f.py: byte {offset}"
