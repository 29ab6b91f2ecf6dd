# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""What scripts/demo --pci has to show: samples/demo_pci.c and samples/dpa, line by line."""

import re

HOST, DPU, DPA = "host", "DPU", "DPA"

# Lines with "the DPA" are those of machines beside which there is one.
_LINES = {
    HOST: """\
x86_64; shares the memory of PCI device <address>, as side 0 of <sides>
made the event 'demo.host', and found 'demo.dpu' of the DPU
 5000 signals and answers, spinning: <time> us each
  500 signals and answers, asleep, woken by a doorbell: <time> us each
  500 signals and answers, asleep in poll(2): <time> us each
wrote "Greetings from x86-64" to the payload of 'demo.host'
asked the DPA to add 1 to 'demo.count' 10000 times: it calls it <handle>
the DPA says that it is through
<sum>, exactly
ends 'demo.host', which the DPU waits for
""",
    DPU: """\
aarch64; shares the memory of PCI device <address>, as side 1 of <sides>
made the event 'demo.dpu', and found 'demo.host' of the host
 5000 answers given, waiting spinning
  500 answers given, waiting asleep, woken by a doorbell
  500 answers given, waiting asleep in poll(2)
read "Greetings from x86-64" there
added 1 to 'demo.count' 10000 times, while others do
waited for 'demo.host': the event was revoked
""",
    DPA: """\
attached as side 2
events found
""",
}
_ANY = {"<address>": r"0000:00:10\.0", "<time>": r"\d+\.\d", "<handle>": r"0x[0-9a-f]+"}
_SUM = {2: "both added 10000 each: the sum is 20000",
        3: "all three added 10000 each: the sum is 30000"}


def units(sides):
    """Who takes part in a region of two sides, or of three."""
    return (HOST, DPU, DPA)[:sides]


def _pattern(line, sides):
    pattern = re.escape(line.replace("<sum>", _SUM[sides]).replace("<sides>", str(sides)))
    for word, means in _ANY.items():
        pattern = pattern.replace(word, means)
    return pattern


def complaint(who, said, sides):
    """The first thing that is wrong with what one of them said, or None."""
    wanted = [line for line in _LINES[who].splitlines() if sides == 3 or "the DPA" not in line]
    if who == DPA:
        # It may be off before it notices.
        said = [line for line in said if line != "the events ended"]
    for number, line in enumerate(wanted):
        if number == len(said):
            return "it did not say: %s" % line
        if not re.fullmatch(_pattern(line, sides), said[number]):
            return "it said: %s; and not: %s" % (said[number], line)
    if len(said) > len(wanted):
        return "it also said: %s" % said[len(wanted)]
    return None
