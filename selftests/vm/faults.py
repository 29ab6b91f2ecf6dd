# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""What befalls a guest while its tests run."""

import json
import signal
import socket
import threading

# QEMU's name of a port in which there is nothing at first.
PORT = "port0"
SIZE = 1 << 20

# Seconds that a guest may take to let go of a device, or to come back.
LIMIT = 300

PAUSE = 7


class Monitor:
    """QEMU's, for a few commands."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LIMIT)
        self._socket.connect(path)
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def __enter__(self):
        self.command("qmp_capabilities")
        return self

    def __exit__(self, *_):
        self._lines.close()
        self._socket.close()

    def expect(self, wanted):
        """The next message that wanted(message) likes."""
        for line in self._lines:
            message = json.loads(line)
            if wanted(message):
                return message
        raise OSError("QEMU's monitor went away")

    def command(self, name, **arguments):
        """Give one command and wait for its answer."""
        words = {"execute": name, "arguments": arguments}
        self._socket.sendall(json.dumps(words).encode() + b"\n")
        answer = self.expect(lambda message: "return" in message or "error" in message)
        if "error" in answer:
            raise OSError("%s: %s" % (name, answer["error"]["desc"]))


class Faults(threading.Thread):
    """Does to the guest what it is told, a word a line:

    kill, boot      the machine is off at once; boots again, to the test that it was in
    stop, continue  it stands still for a while, and does not know
    pause           the same, and goes on by itself after PAUSE seconds
    plug, unplug    it gets one more device; that is taken out, as by the button of the slot

    The device is memory without doorbells. (The one with doorbells, taken out of QEMU 7.2,
    leaves a handler behind that uses it.)
    """

    def __init__(self, path, orders=0):
        """path: a file for the memory of the device that is plugged in; orders: a file
        descriptor to read."""
        super().__init__(daemon=True)
        self._path = path
        self._plugged = 0
        self._orders = orders
        self._guest = None
        self.killed = False     # the guest was ended by a fault
        self._on = threading.Event()
        self._on.set()

    def watch(self, guest):
        """It is this one's turn."""
        self._guest = guest

    def revived(self):
        """If the guest was ended by a fault: true, once it is to boot again."""
        if not self.killed:
            return False
        if not self._on.wait(LIMIT):
            raise TimeoutError("nobody wanted the guest back")
        self.killed = False
        return True

    def _kill(self):
        self.killed = True
        self._on.clear()
        self._guest.kill()

    def _revive(self):
        self._on.set()

    def _freeze(self):
        self._guest.process.send_signal(signal.SIGSTOP)

    def _thaw(self):
        self._guest.process.send_signal(signal.SIGCONT)

    def _pause(self):
        self._freeze()
        threading.Timer(PAUSE, self._thaw).start()

    def _plug(self):
        # Its memory cannot be another device's after it.
        self._plugged += 1
        memory = "memory%d" % self._plugged
        with Monitor(self._guest.monitor) as monitor:
            monitor.command("object-add", **{"qom-type": "memory-backend-file", "id": memory,
                                             "mem-path": self._path, "size": SIZE, "share": True})
            monitor.command("device_add", driver="ivshmem-plain", id="plugged", bus=PORT,
                            memdev=memory)

    def _unplug(self):
        with Monitor(self._guest.monitor) as monitor:
            monitor.command("device_del", id="plugged")
            monitor.expect(lambda message: message.get("event") == "DEVICE_DELETED" and
                           message["data"].get("device") == "plugged")

    def run(self):
        verbs = {"kill": self._kill, "boot": self._revive, "stop": self._freeze,
                 "continue": self._thaw, "pause": self._pause, "plug": self._plug, "unplug": self._unplug}
        # Not sys.stdin, of which the interpreter wants to let go at its end.
        with open(self._orders, encoding="ascii", closefd=False) as orders:
            for line in orders:
                try:
                    verbs[line.strip()]()
                except (KeyError, OSError, ValueError) as problem:
                    print("# fault %s: %s" % (line.strip(), problem), flush=True)
                    self._guest.kill()
