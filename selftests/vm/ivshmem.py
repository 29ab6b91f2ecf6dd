# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Memory that guests share, and their doorbells: the server for QEMU's ivshmem-doorbell.

usage, for guests that are started by hand: ivshmem.py SOCKET
"""

import os
import selectors
import signal
import socket
import struct
import sys
import threading

SIZE = 16 << 20
# Of a region with 64 sides, each of which can tell each other something.
LARGE = 128 << 20
VECTORS = 1


def make_memory(size=SIZE):
    """What the guests share."""
    memory = os.memfd_create("ivshmem")
    os.ftruncate(memory, size)
    return memory


class Server(threading.Thread):
    """The protocol of ivshmem, version 0 (QEMU's docs/specs/ivshmem-spec.txt)."""

    def __init__(self, path, size=SIZE):
        super().__init__(daemon=True)
        self.memory = make_memory(size)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(8)
        self._peers = {}        # number: (socket, eventfds)
        self._joined = 0

    @staticmethod
    def _say(peer, number, fd=None):
        socket.send_fds(peer, [struct.pack("<q", number)], [] if fd is None else [fd])

    def _join(self):
        peer = self._listener.accept()[0]
        # A number that was used and left twice makes QEMU 7.2 abort in the others.
        number = self._joined
        self._joined += 1
        mine = [os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC) for _ in range(VECTORS)]
        self._say(peer, 0)
        self._say(peer, number)
        self._say(peer, -1, self.memory)
        for other, (their, events) in self._peers.items():
            for event in mine:
                self._say(their, number, event)
            for event in events:
                self._say(peer, other, event)
        for event in mine:
            self._say(peer, number, event)
        self._peers[number] = (peer, mine)
        return number, peer

    def _leave(self, number):
        peer, events = self._peers.pop(number)
        peer.close()
        for event in events:
            os.close(event)
        for other, _ in self._peers.values():
            try:
                self._say(other, number)
            except OSError:
                pass

    def run(self):
        selector = selectors.DefaultSelector()
        selector.register(self._listener, selectors.EVENT_READ, None)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    number, peer = self._join()
                    selector.register(peer, selectors.EVENT_READ, number)
                    continue
                try:
                    gone = not key.fileobj.recv(1)
                except OSError:
                    gone = True
                if gone:
                    selector.unregister(key.fileobj)
                    self._leave(key.data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        server = Server(sys.argv[1])
    except OSError as error:
        sys.exit("ivshmem.py: %s: %s. If no other server runs there, remove it"
                 % (sys.argv[1], error.strerror))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        os.unlink(sys.argv[1])
