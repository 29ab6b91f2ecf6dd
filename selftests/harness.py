#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The harness of the guests is hard to please: canned output and kernel logs."""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

TOP = os.environ.get("abs_top_srcdir") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "selftests/vm"))
import ivshmem                                          # noqa: E402
import ktap                                             # noqa: E402
import splat                                            # noqa: E402
import steps                                            # noqa: E402
import suite                                            # noqa: E402
from faults import Faults                               # noqa: E402
from image import Initramfs                             # noqa: E402

BEGIN = "[    3.1] syncevent-test: begin one"
END = "[    9.1] syncevent-test: end one"

# First lines of reports as kernels print them.
SPLATS = [
    "BUG: KASAN: use-after-free in se_wait+0x12/0x90 [syncevent]",
    "BUG: KASAN: slab-out-of-bounds in se_wait+0x12/0x90 [syncevent]",
    "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "BUG: unable to handle page fault for address: ffffc90000000000",
    "BUG: sleeping function called from invalid context at mm/slab.h:494",
    "BUG: scheduling while atomic: poll/312/0x00000002",
    "BUG: Bad page state in process poll  pfn:12345",
    "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!",
    "BUG: MAX_LOCKDEP_CHAINS too low!",
    "------------[ cut here ]------------",
    "WARNING: CPU: 1 PID: 312 at kernel/module/main.c:1 se_exit+0x1/0x2 [syncevent]",
    "WARNING: possible circular locking dependency detected",
    "WARNING: possible recursive locking detected",
    "WARNING: inconsistent lock state",
    "WARNING: suspicious RCU usage",
    "INFO: task poll:312 blocked for more than 483 seconds.",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 134s! [poll:312]",
    "Oops: 0002 [#1] PREEMPT SMP KASAN NOPTI",
    "general protection fault, probably for non-canonical address 0xdffffc0000000000: 0000 [#1]",
    "Kernel panic - not syncing: Fatal exception",
    "Unable to handle kernel paging request at virtual address dfff800000000001",
    "Internal error: synchronous external abort: 0000000096000210 [#1] SMP",
    "UBSAN: array-index-out-of-bounds in kmod/queue.c:12:3",
    "ODEBUG: free active (active state 0) object type: timer_list hint: se_tick",
    "refcount_t: underflow; use-after-free.",
    "list_del corruption. prev->next should be ffff888, but was dead",
    "kernel BUG at kmod/engine.c:12!",
    "Out of memory: Killed process 312 (stress) total-vm:1kB",
]
HEALTHY = """\
[    0.000000] Linux version 6.1.0-57-amd64
[    1.000000] Memory: 980000K/1048056K available
[    2.500000] syncevent: loading out-of-tree module taints kernel.
[    2.600000] debug: WARNINGS are fine in a word, so is DEBUG: and ROOPS
[    3.100000] sysrq: Show Blocked State
[    3.200000] task:poll            state:D stack:0     pid:312   ppid:1""".splitlines()

RACE = """\
==================================================================
BUG: KCSAN: data-race in %s

write to 0xffff8880 of 8 bytes by task 77 on cpu 1:
 %s
 __x64_sys_ioctl+0xbe/0x100

read to 0xffff8880 of 8 bytes by task 78 on cpu 0:
 other+0x10/0x20

Reported by Kernel Concurrency Sanitizer on:
CPU: 0 PID: 78 Comm: syncevent-x Not tainted 6.1.192-kcsan #1
=================================================================="""


class Scanner(unittest.TestCase):
    """splat.py"""

    def test_races_of_the_kernel_alone_are_not_ours(self):
        stack = "se_wait+0x1/0x2 [syncevent]"
        for names in ("hrtimer_wakeup / schedule_hrtimeout_range_clock", "__alloc_file / __alloc_file",
                      "do_set_pte / se_fault [syncevent]"):
            self.assertEqual(splat.scan((RACE % (names, stack)).splitlines()), [])
        for names in ("hrtimer_wakeup / se_wait", "__alloc_file / se_file_open",
                      "do_set_pte / se_mmap [syncevent]", "se_fault [syncevent] / se_revoke [syncevent]"):
            self.assertEqual(len(splat.scan((RACE % (names, stack)).splitlines())), 1)

    def test_every_kind_of_splat_is_seen(self):
        for line in SPLATS:
            with self.subTest(line):
                found = splat.scan(HEALTHY + [BEGIN, "[    4.000000] " + line, END])
                self.assertEqual([("one", line)], [(s.test, s.line) for s in found])

    def test_a_caller_id_hides_nothing(self):
        found = splat.scan(["[    4.000000][  T312] " + SPLATS[0]])
        self.assertEqual(1, len(found))

    def test_healthy_log(self):
        self.assertEqual([], splat.scan(HEALTHY + [BEGIN, END]))

    def test_a_splat_belongs_to_the_test_that_ran(self):
        log = [SPLATS[0], BEGIN, SPLATS[1], END, SPLATS[2],
               "syncevent-test: begin two", SPLATS[3], "syncevent-test: end two"]
        self.assertEqual([None, "one", None, "two"], [s.test for s in splat.scan(log)])

    def test_one_report_counts_once(self):
        log = [BEGIN, "------------[ cut here ]------------", SPLATS[10]] + ["trace"] * 20 + [END]
        self.assertEqual(1, len(splat.scan(log)))

    def test_race_in_the_module(self):
        log = (RACE % ("se_wait / other", "se_wait+0x10/0x20 [syncevent]")).splitlines()
        self.assertEqual(1, len(splat.scan([BEGIN] + log + [END])))

    def test_race_elsewhere(self):
        log = (RACE % ("tick / other", "tick+0x10/0x20")).splitlines()
        self.assertEqual([], splat.scan([BEGIN] + log + [END]))

    def test_a_race_elsewhere_hides_no_other_report(self):
        log = (RACE % ("tick / other", "tick+0x10/0x20")).splitlines()
        self.assertEqual(1, len(splat.scan([BEGIN] + log + [SPLATS[0], END])))

    def test_leaks(self):
        leak = ["unreferenced object 0xffff888 (size 64):", "  comm \"x\"", "  backtrace:",
                "    [<0>] %s"]
        ours = [line.replace("%s", "se_create+0x1/0x2 [syncevent]") for line in leak]
        theirs = [line.replace("%s", "tty_open+0x1/0x2") for line in leak]
        self.assertEqual([ours], splat.leaks(theirs + ours + theirs))
        self.assertEqual([], splat.leaks(theirs))


def outcomes(text, status=0):
    """Outcomes of what a program printed."""
    return [(case.name, case.outcome) for case in ktap.parse(text.splitlines(), status)]


class Parser(unittest.TestCase):
    """ktap.py"""

    def bad(self, text, status=0):
        """The program as a whole has failed."""
        self.assertIn(("program", "failed"), outcomes(text, status))

    def test_passed(self):
        self.assertEqual([("global.one", "passed"), ("two", "passed")],
                         outcomes("TAP version 13\n1..2\nok 1 global.one\nok 2 - two\n"))

    def test_failed(self):
        self.assertEqual([("one", "failed")], outcomes("1..1\nnot ok 1 one\n", 1))

    def test_skipped_keeps_its_name(self):
        text = "1..1\n#  RUN           global.two ...\nok 1 # SKIP no luck\n"
        self.assertEqual([("global.two", "skipped")], outcomes(text))

    def test_all_skipped(self):
        self.assertEqual([("program", "skipped")], outcomes("1..0 # SKIP no luck\n", 4))

    def test_bad_ends(self):
        for text, status in (("", 0), ("ok 1 one\n", 0), ("1..0\n", 0), ("1..2\nok 1 one\n", 0),
                             ("1..1\nok 1 one\nok 2 two\n", 0), ("1..1\nok 1 one\n", 1),
                             ("1..1\nok 1 one\n", 4), ("1..1\nok 1 one\n", 139),
                             ("1..1\nok 1 one\n", None), ("1..1\n", 4)):
            with self.subTest(text, status=status):
                self.bad(text, status)


class Lists(unittest.TestCase):
    """suite.py"""

    def load(self, text):
        """Load a list."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tests.conf")
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            return suite.load(path)

    def test_bad_lines(self):
        for text in ("x\n", "x release\n", "x nowhere 60\n", "x release 10\n",
                     "x release 60 word\n", "x release 60\nx release,debug 60\n"):
            with self.subTest(text):
                self.assertRaises(suite.SuiteError, self.load, text)

    def test_selection(self):
        tests = self.load("# no\na release,debug 60\nb debug 90 X=1 # why\n")
        self.assertEqual(["a"], [t.name for t in suite.select(tests, "release")])
        self.assertEqual(["b"], [t.name for t in suite.select(tests, "debug", ["b*"])])
        self.assertEqual(["X=1", "/t/b"], tests[1].command())
        tests[1].reduce(5)
        self.assertEqual(["X=1", "SE_PERCENT=5", "/t/b"], tests[1].command())

    def test_selection_for_every_architecture(self):
        tests = self.load("a release 60\na-m32 release 60\nb release,x86 60\n")
        self.assertEqual(tests, suite.select(tests, "release"))
        self.assertEqual(tests[:1], suite.select(tests, "release", portable=True))

    def test_quick_selection(self):
        tests = self.load("a release 60 SE_PERCENT=50\nb release,slow 60\n")
        self.assertEqual(tests, suite.reduced(tests, 100))
        self.assertEqual(["/t/a"], tests[0].command()[1:])
        self.assertEqual(tests[:1], suite.reduced(tests, 10))
        self.assertEqual(["SE_PERCENT=5", "/t/a"], tests[0].command())
        self.assertEqual(tests, suite.reduced(tests, 10, ["*"]))
        self.load("a release,slow 60\na debug,slow 60\n")

    def test_the_lists_of_this_tree(self):
        tests = suite.load(os.path.join(TOP, "selftests/tests.conf"))
        for test in tests:
            source = test.name
            if not source.endswith((".sh", ".py")):
                source = source[:-4] + ".c" if source.endswith("-m32") else source + ".c"
            self.assertTrue(os.path.exists(os.path.join(TOP, "selftests", source)), test.name)
        suite.Skips(os.path.join(TOP, "selftests/vm/skips"))


class Archive(unittest.TestCase):
    """image.py"""

    def test_cpio(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Initramfs()
            root.text("a/b/c", "hello")
            root.link("a/l", "b/c")
            root.node("dev/console", 5, 1)
            root.program("bin/sh", "/bin/sh")
            root.write(os.path.join(folder, "x.cpio"))
            with open(os.path.join(folder, "x.cpio"), "rb") as file:
                done = subprocess.run(["/bin/busybox", "cpio", "-t"], stdin=file,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      text=True, check=True)
            names = done.stdout.split()
            self.assertEqual(names[:4], ["a", "a/b", "a/b/c", "a/l"])
            self.assertTrue(any("libc.so" in name for name in names), names)


class Guest:
    """What befalls it."""

    def __init__(self):
        self.process = self
        self.felt = []
        self.monitor = "/nowhere"

    def send_signal(self, number):
        """As of a process."""
        self.felt.append(number)

    def kill(self):
        """It is off."""
        self.felt.append("off")


class Befalling(unittest.TestCase):
    """faults.py"""

    @staticmethod
    def suffer(text):
        """A guest to which all of this was done."""
        there, mine = os.pipe()
        faults, guest = Faults(None, there), Guest()
        faults.watch(guest)
        faults.start()
        with open(mine, "w", encoding="ascii") as tell:
            tell.write(text)
        faults.join()
        os.close(there)
        return faults, guest

    def test_it_stands_still(self):
        faults, guest = self.suffer("stop\ncontinue\n")
        self.assertEqual([signal.SIGSTOP, signal.SIGCONT], guest.felt)
        self.assertFalse(faults.revived())

    def test_it_boots_again(self):
        faults, guest = self.suffer("kill\nboot\n")
        self.assertEqual(["off"], guest.felt)
        self.assertTrue(faults.revived())
        self.assertFalse(faults.revived())

    def test_it_does_not_boot_before_it_is_told_to(self):
        there, mine = os.pipe()
        faults = Faults(None, there)
        faults.watch(Guest())
        faults.start()
        with open(mine, "w", encoding="ascii") as tell:
            print("kill", file=tell, flush=True)
            while not faults.killed:
                pass
            waits = threading.Thread(target=faults.revived)
            waits.start()
            waits.join(0.2)
            self.assertTrue(waits.is_alive())
            print("boot", file=tell, flush=True)
            waits.join()
        faults.join()
        os.close(there)

    def test_what_cannot_be_done_ends_it_for_good(self):
        for text in ("nonsense\n", "unplug\n"):
            faults, guest = self.suffer(text)
            self.assertEqual(["off"], guest.felt)
            self.assertFalse(faults.killed)


class Demonstration(unittest.TestCase):
    """steps.py, and the run of scripts/demo --pci that docs/pci-peers.md shows"""

    def setUp(self):
        self.said = {who: [] for who in steps.units(3)}
        with open(os.path.join(TOP, "docs/pci-peers.md"), encoding="utf-8") as file:
            for who, line in re.findall(r"^ *(%s) \| (.*)$" % "|".join(self.said), file.read(), re.M):
                self.said[who].append(line)

    def test_the_documentation_shows_a_good_run(self):
        for who, said in self.said.items():
            self.assertIsNone(steps.complaint(who, said, 3))

    def test_a_good_run_without_a_dpa(self):
        sums = "both added 10000 each: the sum is 20000, exactly"
        said = [line.replace("of 3", "of 2") for line in self.said["host"] if "the DPA" not in line]
        said = [sums if line.startswith("all three added") else line for line in said]
        self.assertIsNone(steps.complaint("host", said, 2))
        self.assertIsNotNone(steps.complaint("host", said, 3))

    def test_each_line_counts(self):
        for who, said in self.said.items():
            wanted = [line for line in said if line != "the events ended"]
            for i in range(len(wanted)):
                bad = [wanted[:i] + wanted[i + 1:], wanted[:i] + wanted[i:i + 1] * 2 + wanted[i + 1:],
                       wanted[:i] + [wanted[i] + "!"] + wanted[i + 1:]]
                if i:
                    bad.append(wanted[:i - 1] + [wanted[i], wanted[i - 1]] + wanted[i + 1:])
                for lines in bad:
                    self.assertIsNotNone(steps.complaint(who, lines, 3), (who, i, lines))

    def test_a_wrong_sum(self):
        for old, new in (("30000", "29999"), ("exactly", "WRONG"), ("all three", "both")):
            said = [line.replace(old, new) for line in self.said["host"]]
            self.assertNotEqual(said, self.said["host"])
            self.assertIn("it said: ", steps.complaint("host", said, 3))


class Memory(unittest.TestCase):
    """ivshmem.py, as for guests that are started by hand"""

    def test_it_hands_out_memory_and_doorbells(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "server")
            with subprocess.Popen([sys.executable, "-B", ivshmem.__file__, path]) as server:
                try:
                    with socket.socket(socket.AF_UNIX) as guest:
                        guest.settimeout(60)
                        while guest.connect_ex(path):
                            self.assertIsNone(server.poll())
                        said = []
                        while len(said) < 4:
                            data, files, _, _ = socket.recv_fds(guest, 8, 1)
                            said.append((*struct.unpack("<q", data), len(files)))
                            for file in files:
                                if said[-1][0] == -1:
                                    self.assertEqual(ivshmem.SIZE, os.fstat(file).st_size)
                                os.close(file)
                        # The version, its number, the memory, and its own doorbell.
                        self.assertEqual([(0, 0), (0, 0), (-1, 1), (0, 1)], said)
                        again = subprocess.run([sys.executable, "-B", ivshmem.__file__, path],
                                               capture_output=True, text=True, check=False)
                        self.assertEqual((1, True),
                                         (again.returncode, "If no other" in again.stderr))
                    server.terminate()
                    self.assertEqual(0, server.wait(60))
                    self.assertFalse(os.path.exists(path))
                finally:
                    server.kill()


class Tap(unittest.TestResult):
    """Prints KTAP."""

    def __init__(self):
        super().__init__()
        self.number = 0
        self.bad = 0

    def stopTest(self, test):
        super().stopTest(test)
        self.number += 1
        trouble = [text for case, text in self.failures + self.errors
                   if test.id() in (case.id(), getattr(getattr(case, "test_case", None), "id", str)())]
        self.bad += bool(trouble)
        print("%s %d - %s" % ("not ok" if trouble else "ok", self.number, test.id().split(".", 1)[1]))
        for text in trouble:
            print("".join("# %s\n" % line for line in text.splitlines()), end="")


def main():
    """Run them all."""
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print("1..%d" % tests.countTestCases())
    result = Tap()
    tests.run(result)
    return 1 if result.bad else 0


sys.exit(main())
