"""The protobuf wire format, read and written without generated code.

A message is a list of fields: (number, kind, content). The reader only ever walks what it is asked
for, copies nothing, and refuses what does not fit: a file is untrusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MAX_FIELDS = 100_000  # of a whole file; keeps a hostile one from costing more than a moment
MAX_TEXT = 1 << 20  # bytes of one text, which alone is copied


class WireError(ValueError):
    """The bytes are not a message."""


class _Allowance:
    """Fields that may still be read; shared by a message and all inside it."""

    def __init__(self) -> None:
        self.left = MAX_FIELDS

    def take(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise WireError("it has too many fields")


class Message:
    """The fields of one message. Content is an int, or a view of bytes."""

    def __init__(self, data: memoryview, allowance: _Allowance | None = None) -> None:
        self.fields: dict[int, list[int | memoryview]] = {}
        self._allowance = allowance or _Allowance()
        position = 0
        while position < len(data):
            key, position = read_varint(data, position)
            content, position = _read_content(data, position, key & 7)
            if key >> 3 == 0:
                raise WireError("a field has no number")
            self.fields.setdefault(key >> 3, []).append(content)
            self._allowance.take()

    def __contains__(self, number: int) -> bool:
        return number in self.fields

    def integer(self, number: int, default: int = 0) -> int:
        """The last value of a number field."""
        content = self.fields.get(number, [default])[-1]
        if not isinstance(content, int):
            raise WireError(f"field {number} is not a number")
        return content

    def integers(self, number: int) -> list[int]:
        """All values of a repeated number field, packed or not."""
        found: list[int] = []
        for content in self.fields.get(number, []):
            if isinstance(content, int):
                found.append(content)
                continue
            position = 0
            while position < len(content):
                value, position = read_varint(content, position)
                found.append(value)
                self._allowance.take()
        return found

    def real(self, number: int) -> float:
        """The last value of a float field, 0 if absent."""
        bits = self.integer(number)
        if not 0 <= bits < 1 << 32:
            raise WireError(f"field {number} is not a float")
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])

    def view(self, number: int) -> memoryview:
        """The last content of a bytes field, empty if absent."""
        views = self.views(number)
        return views[-1] if views else memoryview(b"")

    def views(self, number: int) -> list[memoryview]:
        """All contents of a bytes field."""
        found = []
        for content in self.fields.get(number, []):
            if isinstance(content, int):
                raise WireError(f"field {number} is a number")
            found.append(content)
        return found

    def text(self, number: int) -> str:
        """A string field."""
        view = self.view(number)
        if len(view) > MAX_TEXT:
            raise WireError(f"the text in field {number} is too long")
        return bytes(view).decode("utf-8", "replace")

    def message(self, number: int) -> Message:
        """A message inside, empty if absent."""
        return Message(self.view(number), self._allowance)

    def messages(self, number: int) -> list[Message]:
        """All messages of a repeated field."""
        return [Message(view, self._allowance) for view in self.views(number)]


def read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """The number at `position`, and where the next one begins."""
    value, shift = 0, 0
    while True:
        if position >= len(data):
            raise WireError("the data ends in the middle of a number")
        if shift > 63:
            raise WireError("a number is too long")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, position
        shift += 7


def _read_content(data: memoryview, position: int, kind: int) -> tuple[int | memoryview, int]:
    if kind == VARINT:
        return read_varint(data, position)
    if kind == BYTES:
        size, position = read_varint(data, position)
    elif kind in (FIXED32, FIXED64):
        size = 4 if kind == FIXED32 else 8
    else:
        raise WireError(f"there is no field kind {kind}")
    if size > len(data) - position:
        raise WireError("the data ends in the middle of a field")
    content = data[position : position + size]
    if kind == BYTES:
        return content, position + size
    return int.from_bytes(content, "little"), position + size


def write_varint(value: int) -> bytes:
    """Seven bits a byte, low first; negative numbers as 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """An integer or enum."""
    return write_varint(number << 3 | VARINT) + write_varint(value)


def float_field(number: int, value: float) -> bytes:
    """32 bits."""
    return write_varint(number << 3 | FIXED32) + struct.pack("<f", value)


def fixed32_field(number: int, value: int) -> bytes:
    """32 bits."""
    return write_varint(number << 3 | FIXED32) + struct.pack("<I", value)


def bytes_field(number: int, content: bytes | str | Iterable[bytes]) -> bytes:
    """Bytes, text, or a message given as its fields."""
    if isinstance(content, str):
        content = content.encode()
    elif not isinstance(content, bytes):
        content = b"".join(content)
    return write_varint(number << 3 | BYTES) + write_varint(len(content)) + content
