#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Do the benchmarks run, and say what they should? (TAP)

Each is run as briefly as can be, on the shm provider. Times are not judged: that they
are there and consistent is. What is counted has to be exact.

environment: abs_top_builddir, the build folder
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get("abs_top_builddir", ".")
BENCH = os.path.join(BUILD, "bench/syncevent-bench")
DOCA = os.path.join(BUILD, "bench/syncevent-doca-bench")
HANG = 600
# As thresholds-1000, but a burden to whoever else uses this machine.
LEFT_OUT = "thresholds-10000"
SIDES = {
    "set": ["library", "inline", "atomic exchange"],
    "add": ["library", "inline", "atomic fetch_add"],
    "get": ["library", "inline", "atomic load"],
    "parked": ["GT waiter", "EQ waiter", "no waiter", "futex waiter", "eventfd waiter"],
    "spin": ["SPIN wait", "inline", "atomics"],
    "block": ["BLOCK wait", "futex", "semaphore", "condition variable", "eventfd", "ck_ec"],
    "epoll": ["event", "queue", "eventfd"],
    "thresholds": ["BLOCK wait", "futex", "eventfd"],
    "create": ["only event", "further event", "eventfd"],
    "memory": ["event", "eventfd"],
}
TARGETS = {
    "set": {("library", "atomic exchange"): 1.3, ("inline", "atomic exchange"): 1.1},
    "add": {("library", "atomic fetch_add"): 1.3, ("inline", "atomic fetch_add"): 1.1},
    "spin": {("SPIN wait", "atomics"): 1.1, ("inline", "atomics"): 1.1},
    "block": {("BLOCK wait", "futex"): 1.2, ("BLOCK wait", "semaphore"): 1.2,
              ("BLOCK wait", "condition variable"): 1, ("BLOCK wait", "eventfd"): 1},
    "epoll": {("queue", "eventfd"): 1.3},
}
# Those of the program for libsyncevent-doca, and what they hope for.
DOCA_PAIRS = {
    "update_set": ("update_set", "atomic exchange", 1.5),
    "update_add": ("update_add", "atomic fetch_add", 1.5),
    "progress": ("10000 waits", "one wait", 3),
    "callback": ("callback", "eventfd", 1.5),
    "callback-one-cpu": ("callback", "eventfd", 1.5),
}
CALLS = {
    "system calls of 1000 updates below a GT waiter's threshold": 0,
    "system calls of the update that passes it": 1,
    "system calls of 1000 updates before an EQ waiter": 1000,
}
# Nothing else may keep a side from running.
LIMITS = ("not built: ", "not run: no more threads", "not run: no more open files",
          "not run: not enough memory", "not run: needs two CPUs")


class Wrong(Exception):
    """What is wrong."""


def want(condition, what):
    """Complain unless it holds."""
    if not condition:
        raise Wrong(what)


def bench(*arguments, status=0, before=(), program=BENCH):
    """Run it; what it printed."""
    done = subprocess.run([*before, program, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=HANG, check=False,
                          env={**os.environ, "SYNCEVENT_PROVIDER": "shm"})
    want(done.returncode == status, "%s: exit status %d, not %d: %s" % (
        " ".join(arguments), done.returncode, status, done.stderr))
    return done.stdout


def names():
    """Of all benchmarks."""
    return [line.split()[0] for line in bench("--list").splitlines()]


def kind(name):
    """Of a benchmark: its name without a number of CPUs or waiters."""
    return name.split("-")[0]


def check_spread(spread, where):
    """A median lies within its range."""
    values = [spread[key] for key in ("min", "q1", "median", "q3", "max")]
    want(values == sorted(values), "%s: not in order: %s" % (where, values))
    want(values[0] >= 0, "%s: negative" % where)


def check_side(name, side):
    """A side has figures, or a reason."""
    where = "%s, %s" % (name, side["name"])
    want(side["ours"] == (side["name"] in ("library", "inline", "GT waiter", "EQ waiter",
                                           "no waiter", "SPIN wait", "BLOCK wait", "event",
                                           "queue", "only event", "further event")), "%s: ours?" % where)
    if "not_run" in side:
        want(side["not_run"].startswith(LIMITS), "%s: %s" % (where, side["not_run"]))
        return
    check_spread(side, where)
    want(side["operations"] >= 1, "%s: no operations" % where)
    # Next to nothing may be measured of an eventfd's memory, of all else there is some.
    want(side["min"] > 0 or name == "memory", "%s: took no time" % where)
    want((kind(name) == "thresholds") == ("wakeups" in side), "%s: wake-ups?" % where)


def check_ratios(result):
    """Each of ours with each peer that ran; what is hoped for is said."""
    name, sides = result["name"], [s for s in result["sides"] if "not_run" not in s]
    pairs = [(r["ours"], r["peer"]) for r in result["ratios"]]
    wanted = [(o["name"], p["name"]) for o in sides if o["ours"]
              for p in sides if not p["ours"] and p["min"] > 0]
    want(pairs == wanted, "%s: ratios of %s, not %s" % (name, pairs, wanted))
    median = {side["name"]: side for side in sides}
    for ratio in result["ratios"]:
        pair = (ratio["ours"], ratio["peer"])
        check_spread(ratio, "%s, %s" % (name, pair))
        ours, peer = median[pair[0]], median[pair[1]]
        want(ratio["max"] >= 0.999 * ours["min"] / peer["max"] and
             ratio["min"] <= 1.001 * ours["max"] / peer["min"],
             "%s, %s: no ratio of these two" % (name, pair))
        target = TARGETS.get(kind(name), {}).get(pair)
        want(ratio.get("target") == target, "%s, %s: target %s" % (
            name, pair, ratio.get("target")))
        if target:
            want(ratio["met"] == (ratio["median"] <= target), "%s, %s: met?" % (name, pair))


def all_of_them(everything, report):
    """Every benchmark is there, with all its sides."""
    want([b["name"] for b in report["benchmarks"]] == everything, "other benchmarks")
    want(set(map(kind, everything)) == set(SIDES), "a benchmark this test does not know")
    for result in report["benchmarks"]:
        want([s["name"] for s in result["sides"]] == SIDES[kind(result["name"])],
             "%s: other sides" % result["name"])
        want(result["what"] and result["unit"], "%s: unit?" % result["name"])


def counts(report):
    """What is counted is exact: the system calls of updates with a sleeper."""
    for result in report["benchmarks"]:
        found = {c["name"]: c["value"] for c in result["counts"]}
        expected = {c["name"]: c.get("expected") for c in result["counts"]}
        # The shm provider does not know whom it woke.
        wanted = CALLS if result["name"] == "parked" else {}
        want(found == wanted, "%s: %s" % (result["name"], found))
        want(expected == wanted, "%s: expects %s" % (result["name"], expected))


def machine(report):
    """Where it was measured is said."""
    want(report["provider"] == "shm" and report["quick"] is True and report["runs"] == 2,
         "provider, quick or runs")
    where = report["machine"]
    want(where["kernel"] == "Linux " + os.uname().release, "kernel")
    want(where["cpus"] == len(os.sched_getaffinity(0)), "cpus")
    want(where["cpu"] and where["emulated"] == (where["hypervisor"] == "TCGTCGTCGTCG"), "cpu")


def one_cpu():
    """What needs two CPUs says so on one; the rest runs."""
    cpu = str(min(os.sched_getaffinity(0)))
    report = json.loads(bench("--quick", "--runs", "1", "--json", "spin", "block*", "parked",
                              before=("taskset", "-c", cpu)))
    for result in report["benchmarks"]:
        for side in result["sides"]:
            ran = side.get("not_run") != "not run: needs two CPUs"
            want(ran == (result["name"] in ("block-one-cpu", "parked")),
                 "%s on one CPU" % result["name"])
            check_side(result["name"], side)


def text():
    """The text says the same."""
    out = bench("--quick", "--runs", "1", "set", "parked")
    for words in ("provider  shm", "library / atomic exchange", "system calls of the update",
                  "EQ waiter / eventfd waiter", "quick: the times mean nothing"):
        want(words in out, "no '%s' in:\n%s" % (words, out))
    want(" met" in out or " missed" in out, "no target in:\n" + out)


def image():
    """A plot: the script in any case, the image if gnuplot is there."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plot.png")
        bench("--quick", "--runs", "2", "--gnuplot", path, "set", "thresholds-1",
              "thresholds-10")
        with open(path + ".gp", encoding="ascii") as script:
            content = script.read()
        want("set: library / atomic exchange" in content and "$crowd0" in content, content)
        if not shutil.which("gnuplot"):
            return
        with open(path, "rb") as file:
            want(file.read(8) == b"\x89PNG\r\n\x1a\n", "no PNG image")


def doca():
    """The other program: each of its benchmarks has a ratio with a target, and counts."""
    report = json.loads(bench("--quick", "--runs", "2", "--json", program=DOCA))
    want([b["name"] for b in report["benchmarks"]] == list(DOCA_PAIRS), "other benchmarks")
    for result in report["benchmarks"]:
        name, (ours, peer, target) = result["name"], DOCA_PAIRS[result["name"]]
        want([(s["name"], s["ours"]) for s in result["sides"]] == [(ours, True), (peer, False)],
             "%s: other sides" % name)
        if "not_run" in result["sides"][0]:
            want(result["sides"][0]["not_run"] == "not run: needs two CPUs", "%s did not run" % name)
            continue
        for side in result["sides"]:
            check_spread(side, name)
            want(side["min"] > 0, "%s took no time" % name)
        want([r["target"] for r in result["ratios"]] == [target], "%s: target" % name)
        counted = [(c["value"] >= 0, c.get("expected")) for c in result["counts"]]
        want(counted == ([(True, None), (True, 0)] if name == "callback" else []),
             "%s: counts %s" % (name, counted))


def usage():
    """Mistakes are told from failures."""
    for wrong in (["--runs", "0"], ["--runs", "102"], ["--runs", "9x"], ["--nonsense"],
                  ["nonsense"], ["set", "nonsense*"]):
        bench(*wrong, status=2)
    bench("--gnuplot", "/nonsense/plot.png", "--quick", "--runs", "1", "set", status=1)
    want("usage:" in bench("--help"), "--help")


def main():
    """Run all cases."""
    if not os.path.exists(BENCH):
        print("1..0 # SKIP the benchmarks are not built (--disable-tool)")
        return 0
    try:
        everything = [name for name in names() if name != LEFT_OUT]
        report = json.loads(bench("--quick", "--runs", "2", "--json", *everything))
    except (Wrong, OSError, ValueError, subprocess.TimeoutExpired) as error:
        print("Bail out! " + " ".join(str(error).split()))
        return 1
    benches = report["benchmarks"]
    cases = [
        ("every benchmark runs, each with all its sides",
         lambda: all_of_them(everything, report)),
        ("each side has figures, or a limit of this machine",
         lambda: [check_side(b["name"], s) for b in benches for s in b["sides"]]),
        ("ratios are of the same rounds", lambda: [check_ratios(b) for b in benches]),
        ("counts are exact", lambda: counts(report)),
        ("the machine is described", lambda: machine(report)),
        ("one CPU", one_cpu),
        ("text", text),
        ("plot", image),
        ("libsyncevent-doca's own program", doca) if os.path.exists(DOCA) else
        ("libsyncevent-doca's own program # SKIP not built (--disable-doca)", lambda: None),
        ("usage", usage),
    ]
    print("1..%d" % len(cases))
    failed = 0
    for number, (name, case) in enumerate(cases, 1):
        try:
            case()
            print("ok %d - %s" % (number, name))
        except (Wrong, KeyError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            failed += 1
            print("not ok %d - %s" % (number, name))
            print("\n".join("# " + line for line in str(error).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
