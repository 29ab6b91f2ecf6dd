# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The DPA: a RISC-V board with the firmware of samples/dpa, on memory that guests share."""

import mmap
import os
import shutil
import signal
import struct
import subprocess
import threading
import time

import ivshmem

QEMU = "qemu-system-riscv64"
# The test's wishes: the values of this event (selftests/pci_dpa.c).
POWER = b"dpa.power"
KILL, START, STOP, CONTINUE = 1, 2, 3, 4


def firmware(top, build):
    """Build the firmware; its file, if there are a compiler and a board for it."""
    subprocess.run([os.path.join(top, "scripts/build"), "-C", "samples", "firmware"], check=True,
                   env={**os.environ, "SYNCEVENT_BUILD": build})
    path = os.path.join(build, "samples/dpa/dpa.elf")
    return path if os.path.exists(path) and shutil.which(QEMU) else None


class Board(threading.Thread):
    """The DPA. A thread does to it what the tests want, and shows what it says."""

    def __init__(self, program, side, path, memory, show=lambda line: print("# " + line, flush=True)):
        super().__init__(daemon=True)
        self._show_line = show
        # The side is a word at a place where the firmware looks (samples/dpa/board.c).
        # Two CPUs: with one QEMU makes atomic operations non-atomic.
        self._argv = [QEMU, "-M", "virt", "-cpu", "rv64", "-smp", "2", "-m", "32",
                      "-accel", "tcg,thread=multi", "-nodefaults", "-display", "none",
                      "-serial", "stdio", "-bios", program,
                      "-device", "loader,addr=0x81fffff8,data=%d,data-len=4" % side,
                      "-chardev", "socket,id=peers,path=" + path,
                      "-device", "ivshmem-doorbell,chardev=peers,vectors=1"]
        self._memory = mmap.mmap(memory, ivshmem.SIZE, mmap.MAP_SHARED, mmap.PROT_READ)
        self._process = None
        self._over = False
        self.failed = 0

    def _power(self):
        """The value of the event that has the name, 0 without one."""
        magic, _, _, _, _, _, _, slots, shift, _, descriptors, _, _, cells = struct.unpack_from(
            "<QIIQQQQII5Q", self._memory)
        for slot in range(slots if magic == 0x4e4f494745524553 else 0):
            at = descriptors + 256 * slot
            if self._memory[at] & 3 == 1 and self._memory[at + 28] and \
                    self._memory[at + 64:at + 128].rstrip(b"\0") == POWER:
                return struct.unpack_from("<Q", self._memory, cells + (slot << shift))[0]
        return 0

    def _start(self):
        # pylint: disable-next=consider-using-with
        self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self._argv],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, errors="replace")
        threading.Thread(target=self._show, args=(self._process,), daemon=True).start()

    def _show(self, process):
        for line in process.stdout:
            self._show_line(line.strip())
        # Killed on purpose or not at all: it never ends by itself.
        if process.wait() != -signal.SIGKILL:
            print("not ok dpa: the firmware ended with status %d" % process.returncode)
            self.failed += 1

    def run(self):
        self._start()
        last = 0
        while not self._over:
            time.sleep(0.02)
            wanted = self._power()
            if wanted == last:
                continue
            last = wanted
            if wanted == KILL:
                self._process.kill()
                self._process.wait()
            elif wanted == START:
                self._start()
            elif wanted in (STOP, CONTINUE):
                self._process.send_signal(signal.SIGSTOP if wanted == STOP else signal.SIGCONT)
        self._process.kill()
        self._process.wait()

    def end(self):
        """The power is off."""
        self._over = True
        self.join()
