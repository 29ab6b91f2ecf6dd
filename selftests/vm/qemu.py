# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Run a guest and keep what it says."""

import ctypes
import functools
import mmap
import os
import platform
import selectors
import socket
import subprocess
import sys
import tempfile
import time


class Machine:
    """What differs between guests of one architecture and of another."""

    def __init__(self, arch, board, cpu, ports, words=""):
        self.arch = arch
        self.board = board      # QEMU's options
        self.cpu = cpu          # under emulation
        # The kernel's log goes to QEMU's first serial port, what the tests print
        # to its character device "tests".
        self.log_port, self.tests_port = ports
        self.words = words      # of the kernel's command line, under emulation

    @property
    def native(self):
        """Whether this machine is of that architecture."""
        return platform.machine() == self.arch


X86 = Machine("x86_64", ["-M", "q35", "-device", "isa-serial,chardev=tests,index=1"],
              "Nehalem", ("ttyS0", "ttyS1"), "no_timer_check tsc=reliable")


def arm64(cpu):
    """The board has one port of its own: the other is on PCI."""
    return Machine("aarch64", ["-M", "virt,gic-version=3,its=on",
                               "-device", "pci-serial,chardev=tests"],
                   cpu, ("ttyAMA0", "ttyS0"))


# Some nested hosts offer the MSR of arch-capabilities but refuse to set it.
_KVM = ["-accel", "kvm", "-cpu", "host,-arch-capabilities"]


def accel(kernel, initrd):
    """"kvm" if it works here, else "tcg"; SYNCEVENT_ACCEL decides over it.

    initrd: of a guest that prints "@@ kernel" and ends.
    """
    wanted = os.environ.get("SYNCEVENT_ACCEL")
    if wanted:
        return wanted
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    # That the device opens says little where this machine is a guest itself:
    # some have a KVM that fails at the first odd instruction. Boot one.
    guest = Guest(command("kvm", kernel, initrd))
    try:
        guest.run(20)
    finally:
        guest.close()
    return "kvm" if any(line.startswith("@@ done") for line in guest.output) else "tcg"


@functools.lru_cache(maxsize=None)
def _clock_words():
    """The rate of this machine's time-stamp counter, which emulated CPUs show as theirs.

    A guest that measures it while others have the CPU may be wrong by a factor of fifty,
    and takes its peers for dead as much too early.
    """
    if platform.machine() != "x86_64":
        return []
    # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3")
        code = ctypes.c_char.from_buffer(page)
        rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(code))

        def both():
            reads = [(time.monotonic_ns(), rdtsc(), time.monotonic_ns()) for _ in range(100)]
            before, ticks, after = min(reads, key=lambda read: read[2] - read[0])
            return (before + after) // 2, ticks

        (begin, first), _, (end, last) = both(), time.sleep(0.05), both()
        del code, rdtsc
    return ["tsc_early_khz=%d" % ((last - first) * 1000000 // (end - begin))]


def command(how, kernel, initrd, append="", memory=1024, extra=()):
    """The QEMU command line but for what its ports lead to; how: "kvm" or "tcg".

    Always two CPUs and one host thread for each: with one CPU both QEMU and the
    guest kernel make atomic operations non-atomic.
    """
    machine = kernel.machine
    words = ["console=" + machine.log_port, "panic=-1", "mitigations=off", "nokaslr",
             "random.trust_cpu=on", "cryptomgr.notests",
             "rcupdate.rcu_cpu_stall_timeout=300", "quiet"]
    if how == "kvm":
        processor = _KVM
    else:
        processor = ["-cpu", machine.cpu, "-accel", "tcg,thread=multi"]
        words += machine.words.split()
        words += _clock_words() if machine.arch == "x86_64" else []
    return ["qemu-system-" + machine.arch, *machine.board, *processor,
            "-smp", "2", "-m", str(memory),
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", kernel.image, "-initrd", initrd,
            "-append", " ".join(words + kernel.append.split() + append.split()), *extra]


class Guest:
    """A guest without a terminal: its kernel log and its test output, line by line."""

    def __init__(self, argv, echo=False):
        self.log = []           # kernel log
        self.output = []        # what the tests printed
        self._echo = echo
        self._folder = tempfile.TemporaryDirectory(prefix="syncevent-vm-")
        self.monitor = os.path.join(self._folder.name, "monitor")
        path = os.path.join(self._folder.name, "tests")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(
            # However the runner ends, its guest does not outlive it.
            ["setpriv", "--pdeathsig", "KILL", *argv, "-serial", "stdio",
             "-chardev", "socket,id=tests,path=" + path,
             "-qmp", "unix:%s,server=on,wait=off" % self.monitor],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        listener.settimeout(30)
        try:
            self._tests = listener.accept()[0]
        except socket.timeout:
            self._tests = None
        listener.close()

    def run(self, limit, on_line=None):
        """Until the guest ends or its time is over; False in the latter case.

        on_line(line) is called for each line of test output; it may return a
        new limit in seconds from now.
        """
        deadline = time.monotonic() + limit
        selector = selectors.DefaultSelector()
        buffers = {}
        for stream, lines in ((self.process.stdout, self.log), (self._tests, self.output)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ, lines)
                buffers[stream] = b""
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                return False
            for key, _ in selector.select(min(left, 1)):
                data = os.read(key.fd, 65536)
                buffers[key.fileobj] += data
                *whole, buffers[key.fileobj] = buffers[key.fileobj].split(b"\n")
                if not data:
                    selector.unregister(key.fileobj)
                    whole += [buffers[key.fileobj]] if buffers[key.fileobj] else []
                for raw in whole:
                    line = raw.decode(errors="replace").rstrip("\r")
                    key.data.append(line)
                    if self._echo:
                        print(("[k] " if key.data is self.log else "") + line, flush=True)
                    if key.data is self.output and on_line:
                        new = on_line(line)
                        deadline = time.monotonic() + new if new else deadline
        self.process.wait()
        return True

    def kill(self):
        """End this guest's QEMU, and no other."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self):
        """Free what the guest held."""
        self.kill()
        self.process.stdout.close()
        if self._tests is not None:
            self._tests.close()
        self._folder.cleanup()


def interactive(argv):
    """A guest whose test port is this terminal; the kernel log goes to a file."""
    with tempfile.NamedTemporaryFile(prefix="syncevent-kernel-log-", delete=False) as log:
        print("kernel log: %s" % log.name)
    sys.stdout.flush()
    return subprocess.call(argv + ["-serial", "file:" + log.name, "-mon", "chardev=tests",
                                   "-chardev", "stdio,id=tests,mux=on,signal=off"])
