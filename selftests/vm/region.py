# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Does the memory of a region look as docs/abi.md says? It is read by the tables there alone.

Whoever formatted it has left the values "at format", and they stay in what nobody uses: in
slots that were never made, in the rings of sides to themselves, in reserved words.
"""

import re
import struct


class Region:
    """The tables, and a region's memory."""

    def __init__(self, page, memory):
        self._memory = memory
        self._constants = {name: int(value, 0) for name, value in
                           re.findall(r"^\| `(SYNCEVENT_\w+)` \| (\w+) \|", page, re.M)}
        # Of each structure its bytes, and its fields: offset, bytes, what it is at format.
        self._sizes, self._fields = {}, {}
        for name, size, body in re.findall(
                r"^### struct syncevent_region_(\w+): (\d+) bytes\n(.*?)(?=^##)", page, re.M | re.S):
            self._sizes[name] = int(size)
            self._fields[name] = {
                field: (int(at), int(width), text) for at, width, field, text in re.findall(
                    r"^\| (\d+) \| (\d+) \| [^|]+ \| `(\w+)` \| [^|]+ \| ([^|]+) \|", body, re.M)}

    def _word(self, name, field, at=0):
        offset, size, _ = self._fields[name][field]
        return int.from_bytes(self._memory[at + offset:at + offset + min(size, 8)], "little")

    def _unused(self, name, at, fields=None):
        """Whether that structure is as it was formatted, or these fields of it are."""
        for field, (offset, size, text) in self._fields[name].items():
            value = int(re.match(r"(\d+)", text)[1])        # no other text has an end
            if (fields is None or field in fields) and \
                    self._memory[at + offset:at + offset + size] != value.to_bytes(size, "little"):
                return False
        return True

    def _header(self, sides):
        size = len(self._memory)
        slots = (size // 2) >> 12
        wanted = {"`SYNCEVENT_REGION_MAGIC`": self._constants["SYNCEVENT_REGION_MAGIC"],
                  "`SYNCEVENT_REGION_VERSION`": self._constants["SYNCEVENT_REGION_VERSION"],
                  "S: its `pci_sides`": sides, "bytes": size, "log2 of T": 12,
                  "N": slots - slots % sides ** 2}
        for field, (_, _, text) in self._fields["header"].items():
            value = self._word("header", field)
            if not value or wanted.get(text, value) != value:
                yield "%s of the header is %#x, and not %s" % (field, value, text)

    def complaints(self, sides):
        """What is not as the page says, of a region whose machines have pages of 4096 bytes."""
        found = list(self._header(sides))
        if found:
            return found
        side_at, desc_at, ack_at, ring_at, slot_at = (
            self._word("header", part + "_offset") for part in ("side", "desc", "ack", "ring", "slot"))
        slots = self._word("header", "slots")
        for side in range(sides):
            if not self._unused("side", side_at + side * self._sizes["side"], ("reserved", "reserved_end")):
                found.append("reserved words of side %d are not 0" % side)
            if not self._unused("ring", ring_at + (side * sides + side) * 4096):
                found.append("the ring of side %d to itself is used" % side)
        unused = 0
        stride = (ring_at - ack_at) // sides
        # A cell that nobody made: the hints say that nobody waits.
        hint = struct.pack("<QQ", self._constants["SYNCEVENT_WAKE_NONE"], 0)
        cell = (bytes(16) + sides * hint).ljust(4096, b"\0")
        for slot in range(slots):
            desc = desc_at + slot * self._sizes["desc"]
            if self._word("desc", "state", desc):
                continue
            unused += 1
            at = slot_at + slot * 4096
            if not self._unused("desc", desc) or self._memory[at:at + 4096] != cell or not all(
                    self._unused("ack", ack_at + side * stride + slot * self._sizes["ack"])
                    for side in range(sides)):
                found.append("slot %d, which nobody made, is not as it was formatted" % slot)
        if not slots > unused > 0:
            found.append("%d of %d slots were never made" % (unused, slots))
        return found
