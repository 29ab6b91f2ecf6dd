# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""What a guest boots: an ELF kernel image and an initramfs."""

import os
import re
import stat
import struct
import subprocess


def extract_vmlinux(bzimage, target):
    """Unpack the ELF image from a bzImage: it boots by PVH, which under
    emulation saves the seconds that decompressing in the guest takes."""
    with open(bzimage, "rb") as file:
        data = file.read()
    setup_sectors = data[0x1f1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = data[start:start + length]
    tools = {b"\xfd7": ["xz", "-dc", "--single-stream"], b"\x1f\x8b": ["gzip", "-dc"],
             b"\x28\xb5": ["zstd", "-dcq"], b"\x02\x21": ["lz4", "-dc"]}
    tool = tools.get(payload[:2])
    if tool is None:
        raise ValueError("%s: unknown compression %r" % (bzimage, payload[:2]))
    # The size that follows the payload makes the tools complain about garbage.
    elf = subprocess.run(tool, input=payload, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout
    if elf[:4] != b"\x7fELF":
        raise ValueError("%s: no ELF image inside" % bzimage)
    with open(target + ".new", "wb") as file:
        file.write(elf)
    os.rename(target + ".new", target)


class Initramfs:
    """A newc cpio archive, written without root: nodes need no mknod."""

    def __init__(self):
        self._entries = {}

    def _add(self, path, mode, data=b"", rdev=(0, 0)):
        path = os.path.normpath(path).strip("/")
        parent = os.path.dirname(path)
        if parent and parent not in self._entries:
            self.folder(parent)
        self._entries[path] = (mode, data, rdev)

    def folder(self, path, mode=0o755):
        """Add a folder and those above it."""
        self._add(path, stat.S_IFDIR | mode)

    def link(self, path, target):
        """Add a symbolic link."""
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def node(self, path, major, minor, mode=0o600):
        """Add a character device."""
        self._add(path, stat.S_IFCHR | mode, b"", (major, minor))

    def text(self, path, content, mode=0o644):
        """Add a file with this content."""
        self._add(path, stat.S_IFREG | mode, content.encode())

    def file(self, path, source, mode=0o755):
        """Add a copy of a file."""
        with open(source, "rb") as file:
            self._add(path, stat.S_IFREG | mode, file.read())

    def program(self, path, source):
        """Add a program and the shared libraries that it needs, where it
        looks for them."""
        self.file(path, source)
        listing = subprocess.run(["ldd", source], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, check=False).stdout
        for library in re.findall(r"(?:=> )?(/\S+) \(0x", listing):
            # The guest has a /tmp of its own over that of the archive.
            target = library
            if library.startswith("/tmp/"):
                target = "/usr/lib/" + os.path.basename(library)
            if target.strip("/") not in self._entries:
                self.file(target, library)

    def write(self, target):
        """Write the archive."""
        with open(target, "wb") as out:
            for number, (path, (mode, data, rdev)) in enumerate(self._entries.items(), 1):
                self._write_entry(out, number, path, mode, data, rdev)
            self._write_entry(out, 0, "TRAILER!!!", 0, b"", (0, 0))

    @staticmethod
    def _write_entry(out, number, path, mode, data, rdev):
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(name), 0)
        out.write(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        out.write(b"\0" * (-(110 + len(name)) % 4))
        out.write(data)
        out.write(b"\0" * (-len(data) % 4))
