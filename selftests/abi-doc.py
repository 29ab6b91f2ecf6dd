#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Does docs/abi.md say what the headers in include/uapi/linux say, the module of the
bounds of a region, and the library of what processes share without the module? Is a region
for units without Linux what it is for machines, and where both documents have it? (TAP)

The facts come from the compiler, for 64- and for 32-bit programs,
through assembly text: 32-bit programs are not run, so their libraries are not needed.
Both sides are then compared as tables, in both directions. To show that the
comparison can fail, mutants of each side are made and must all be caught.

usage: abi-doc.py [SOURCE-FOLDER]
environment: CC, the C compiler
"""
import errno
import os
import re
import shlex
import subprocess
import sys
import tempfile

TOP = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HEADERS = ("include/uapi/linux/syncevent.h", "include/uapi/linux/syncevent_region.h")
UNIT_HEADER = "include/syncevent/region.h"
GEOMETRY = "kmod/geometry.h"
PAGE, PEERS = "docs/abi.md", "docs/pci-peers.md"
CC = shlex.split(os.environ.get("CC") or "cc")
TYPES = {"__aligned_u64": "u64", "__u32": "u32", "__s32": "s32", "__u16": "u16", "__u8": "u8", "char": "char"}
DIRECTIONS = {"_IO": "-", "_IOW": "W", "_IOR": "R", "_IOWR": "WR"}


class Bad(Exception):
    """One side cannot be understood at all."""


# ---- the headers --------------------------------------------------------------

def header_structs(path, text, structs):
    """Adds {struct: [(name of the field, type, lengths, "in" / "out" / "in/out")]}

    The lengths of an array are C expressions. Of an array of structures each field of
    each element is one; other arrays, and a structure in another, are one field.
    """
    used = {}
    for macro, struct in re.findall(r"#define SYNCEVENT_IOC_\w+\s+(_IO\w+)\(.*struct (\w+)\)", text):
        used.setdefault(struct, set()).add(macro)
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        doc = re.search(r"/\*\*\n \* struct %s -.*?\*/" % name, text, re.S)
        if not doc:
            raise Bad(f"{path}: struct {name} has no kernel-doc")
        fields = []
        for line in body.splitlines():
            m = re.fullmatch(r"\t(?:struct )?(\w+) (\w+)((?:\[[^\]]+\])*);", line)
            if not m:
                raise Bad(f"{path}: struct {name}: cannot read {line!r}")
            ctype, field, lengths = m[1], m[2], re.findall(r"\[([^\]]+)\]", m[3])
            if used.get(name) == {"_IOR"} or name == "syncevent_completion":
                way = "out"
            elif len(used.get(name, ())) > 1:
                way = "in/out"
            else:
                answer = re.search(r" \* @%s: answer" % field, doc[0])
                way = "out" if answer else "in"
            if ctype in TYPES:
                fields.append((field, TYPES[ctype], lengths, way))
            elif ctype in structs and not lengths:
                fields.append((field, ctype, [], way))
            elif ctype in structs and len(lengths) == 1 and lengths[0].isdigit():
                for i in range(int(lengths[0])):
                    fields += [(f"{field}[{i}].{inner}", kind, of, way) for inner, kind, of, _ in structs[ctype]]
            else:
                raise Bad(f"{path}: struct {name}: unknown type {ctype}{m[3]}")
        structs[name] = fields


def compile_values(texts, bits, wanted, source_file=None, flags=()):
    """Value of each C expression of wanted, as a C compiler for that many bits sees it.

    texts: of headers, {path: text}; those of include/ come from there
    source_file: a file of the library or module that is to be seen too
    """
    names = {path: re.sub("^include/(uapi/)?", "", path) for path in texts}
    source = [f"#include <{name}>" for name in names.values()]
    source = ["#include <stddef.h>", *source, "void values(void);", "void values(void)", "{"]
    if source_file:
        source.insert(0, f'#include "{os.path.abspath(source_file)}"')
    for i, expr in enumerate(wanted):
        for half, shift in (("l", 0), ("h", 32)):
            source.append('\t__asm__ volatile("\\n@@ %d %s %%0 @@" : : "i"((int)(unsigned int)'
                          "((unsigned long long)(%s) >> %d)));" % (i, half, expr, shift))
    source.append("}\n")
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            os.makedirs(os.path.dirname(os.path.join(folder, names[path])), exist_ok=True)
            with open(os.path.join(folder, names[path]), "w", encoding="utf-8") as f:
                f.write(text)
        # The second folder: <asm/types.h>, if the 32-bit packages are not there.
        run = subprocess.run(CC + [f"-m{bits}", *flags, "-std=gnu11", "-O1", "-S", "-o", "-", "-I", folder,
                                   "-I", os.path.join(TOP, "include"), "-I", os.path.join(TOP, "lib"),
                                   "-idirafter", "/usr/include/x86_64-linux-gnu", "-x", "c", "-"],
                             input="\n".join(source), capture_output=True, text=True, timeout=120, check=False)
    if run.returncode:
        raise Bad(f"{' '.join(CC)} -m{bits} failed:\n{run.stderr}")
    halves = {}
    for i, half, value in re.findall(r"^@@ (\d+) ([lh]) \$?(-?\d+) @@", run.stdout, re.M):
        halves[int(i), half] = int(value) & 0xffffffff
    if len(halves) != 2 * len(wanted):
        raise Bad(f"-m{bits}: {len(halves)} of {2 * len(wanted)} values in the assembly")
    return {expr: halves[i, "h"] << 32 | halves[i, "l"] for i, expr in enumerate(wanted)}


def header_facts(texts):
    """What texts, {path: text} of HEADERS, say."""
    texts = {path: re.sub(r"\\\n\s*", "", text) for path, text in texts.items()}      # continued lines
    structs, commands, defines = {}, {}, []
    for path, text in texts.items():
        header_structs(path, text, structs)
        commands.update({name: (DIRECTIONS[macro], struct or "-") for name, macro, struct in
                         re.findall(r"#define (SYNCEVENT_IOC_\w+)\s+(_IO\w*)\([^,]*,[^,)]*(?:, struct (\w+))?\)", text)})
        defines += re.findall(r"^#[ \t]*define[ \t]+(\w+)", text, re.M)
    constants = [d for d in defines if d not in commands and not d.startswith("_LINUX_")]
    wanted = constants + list(commands)
    for name, fields in structs.items():
        wanted.append(f"sizeof(struct {name})")
        for field, _, lengths, _ in fields:
            wanted += [f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})", *lengths]
    wanted = list(dict.fromkeys(wanted))
    v64, v32 = (compile_values(texts, bits, wanted) for bits in (64, 32))

    facts = {}
    for name in constants:
        facts["constant", name] = (v64[name],) if v64[name] == v32[name] else (v64[name], v32[name])
    for name, (way, struct) in commands.items():
        facts["command", name] = (v64[name] & 0xff, v64[name], v32[name], way, struct)
    for name, fields in structs.items():
        end = 0
        for field, kind, lengths, way in fields:
            at, size = (f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})")
            if v64[at] != v32[at] or v64[size] != v32[size]:
                raise Bad(f"struct {name}: {field} differs between 32 and 64 bit")
            if v64[at] != end:
                raise Bad(f"struct {name}: a hole before {field}")
            end = v64[at] + v64[size]
            kind += "".join(f"[{v64[length]}]" for length in lengths)
            facts["field", name, field] = (v64[at], v64[size], kind, way)
        whole = f"sizeof(struct {name})"
        if v64[whole] != end or v32[whole] != end:
            raise Bad(f"struct {name}: a hole at its end, or 32 and 64 bit differ")
        facts["struct", name] = (end,)
    return facts


# ---- other sources: what lies behind the headers --------------------------------

# What the library's processes share without the module, and what the module allows in a region.
SOURCES = [("lib/internal.h", "se_shm", r"SE_SHM_[A-Z]+"), ("lib/blob.c", "blob", r"BLOB_[A-Z]+"),
           ("kmod/geometry.h", None, r"SE_(?:SLOTS?|REGION|BLOB)_[A-Z_]+")]
SOURCE_TYPES = {"uint64_t": "u64", "uint32_t": "u32", "uint16_t": "u16", "unsigned char": "u8"}


def source_facts(texts):
    facts = {}
    for path, name, names in SOURCES:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            text = f.read()
        fields = []
        if name:
            body = re.search(r"^struct %s \{\n(.*?)^\};" % name, text, re.M | re.S)
            if not body:
                raise Bad(f"{path}: no struct {name}")
            for line in body[1].splitlines():
                m = re.fullmatch(r"\t(\w+(?: char)?) (\w+)((?:\[\d+\])*)(?: __attribute__\(.*\))?;", line)
                if not m or m[1] not in SOURCE_TYPES:
                    raise Bad(f"{path}: struct {name}: cannot read {line!r}")
                fields.append((m[2], SOURCE_TYPES[m[1]] + m[3]))
        constants = re.findall(r"^#define (%s)\s+[^\"\s]" % names, text, re.M)
        wanted = constants + ([f"sizeof(struct {name})"] if name else [])
        for field, _ in fields:
            wanted += [f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})"]
        v64, v32 = (compile_values(texts, bits, wanted, os.path.join(TOP, path)) for bits in (64, 32))
        if v64 != v32:
            raise Bad(f"{path}: differs between 32 and 64 bit")
        if name:
            facts["struct", name] = (v64[f"sizeof(struct {name})"],)
        facts.update({("constant", c): (v64[c],) for c in constants})
        for field, kind in fields:
            facts["field", name, field] = (v64[f"offsetof(struct {name}, {field})"],
                                           v64[f"sizeof(((struct {name} *)0)->{field})"], kind, "in")
    return facts


# ---- a region, where there is no Linux ----------------------------------------------

UNIT_TYPES = {"uint64_t": "u64", "uint32_t": "u32", "uint16_t": "u16", "uint8_t": "u8", "char": "char"}


def unit_facts(text):
    """What syncevent/region.h says of a region to a unit that has not the kernel's headers."""
    own = text.partition("#else\n")[2]
    structs = {name: re.findall(r"^\t(\w+) (\w+)((?:\[\w+\])*);$", body, re.M)
               for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", own, re.M | re.S)}
    wanted = re.findall(r"^#define (SYNCEVENT_\w+)", own, re.M)
    facts = {("constant", name): [name] for name in wanted}
    for name, fields in structs.items():
        facts["struct", name] = [f"sizeof(struct {name})"]
        for kind, field, lengths in fields:
            facts["field", name, field] = [f"offsetof(struct {name}, {field})",
                                           f"sizeof(((struct {name} *)0)->{field})",
                                           UNIT_TYPES[kind], *re.findall(r"\w+", lengths)]
    wanted = [e for facts_of in facts.values() for e in facts_of if e not in UNIT_TYPES.values()]
    values = [compile_values({UNIT_HEADER: text}, bits, list(dict.fromkeys(wanted)),
                             flags=("-U__linux__", "-ffreestanding")) for bits in (64, 32)]
    if values[0] != values[1]:
        raise Bad(f"{UNIT_HEADER}: differs between 32 and 64 bit")
    for key, found in facts.items():
        if key[0] == "field":
            at, size, kind, *lengths = found
            kind += "".join(f"[{values[0][length]}]" for length in lengths)
            facts[key] = (values[0][at], values[0][size], kind, "in")
        else:
            facts[key] = (values[0][found[0]],)
    return facts


def compare_unit(header, unit):
    """What a unit takes for something else, or lacks: a list of lines."""
    wanted = {key for key in header if key[0] != "constant" and key[1].startswith("syncevent_region_")}
    return [f"{' '.join(key)}: header {header.get(key)}, without Linux {unit.get(key)}"
            for key in sorted(wanted | unit.keys()) if header.get(key) != unit.get(key)]


# ---- the page -----------------------------------------------------------------

def table_rows(text):
    """Yields (the heading above, its cells as {column: text}) for each row of each table."""
    heading, columns = "", None
    for line in text.splitlines():
        if line.startswith("#"):
            heading, columns = line.lstrip("# "), None
        elif not line.startswith("|"):
            columns = None
        else:
            cells = [c.strip().strip("`") for c in line.strip("|").split("|")]
            if columns is None:
                columns = cells
            elif set("".join(cells)) != {"-"}:
                if len(cells) != len(columns):
                    raise Bad(f"under {heading!r}: a row of {len(cells)} cells in a table of {len(columns)}: {line}")
                yield heading, dict(zip(columns, cells))


def doc_facts(text):
    facts, complaints = {}, []

    def add(key, value):
        if key in facts:
            complaints.append(f"{' '.join(key)}: more than once")
        facts[key] = value

    for heading in re.findall(r"^#+ (struct .*)$", text, re.M):
        m = re.fullmatch(r"struct (\w+): (\d+) bytes(?:, aligned to \d+)?", heading)
        if not m:
            raise Bad(f"cannot read the heading {heading!r}")
        add(("struct", m[1]), (int(m[2]),))
    for heading, row in table_rows(text):
        if "field" in row:
            struct = re.match(r"struct (\w+):", heading)
            if not struct:
                raise Bad(f"a table of fields under {heading!r}")
            # The cell is memory: its table has a writer, not a direction.
            add(("field", struct[1], row["field"]),
                (int(row["offset"], 0), int(row["size"], 0), row["type"], row.get("dir", "in")))
        elif "constant" in row:
            add(("constant", row["constant"]), (int(row["value"], 0),))
        elif "command" in row:
            add(("command", row["command"]), (int(row["nr"], 0), int(row["64-bit"], 0), int(row["32-bit"], 0),
                                              row["direction"], row["structure"]))
        elif "error" in row and not hasattr(errno, row["error"]):
            complaints.append(f"under {heading!r}: {row['error']} is no errno")
    return facts, complaints


def compare(header, text):
    """What is wrong with the page, given the header's facts: a list of lines."""
    try:
        facts, complaints = doc_facts(text)
    except (Bad, KeyError, ValueError) as e:
        return [f"cannot read the page: {e}"]
    for key in sorted(header.keys() | facts.keys()):
        if key not in facts:
            complaints.append(f"{' '.join(key)}: in a header, not on the page")
        elif key not in header:
            complaints.append(f"{' '.join(key)}: on the page, not in a header")
        elif header[key] != facts[key]:
            complaints.append(f"{' '.join(key)}: header {header[key]}, page {facts[key]}")
    headings = set(re.findall(r"^### (SYNCEVENT_IOC_\w+)$", text, re.M))
    commands = {key[1] for key in header if key[0] == "command"}
    complaints += [f"{c}: no section, or one without a command" for c in sorted(headings ^ commands)]
    known = {key[-1] for key in header if key[0] in ("command", "constant")}
    for word in sorted(set(re.findall(r"\bSYNCEVENT_[A-Z0-9_]+\b(?!\*)", text)) - known):
        complaints.append(f"{word}: named in the text, not in a header")
    return complaints


# ---- where the parts of a region lie ----------------------------------------------

# What the module chooses, and where the units' header then finds things: by the page's names.
LAYOUT = """
#include <stdio.h>
#include <stdlib.h>
#include "geometry.h"
#include <syncevent/dpa.h>

#define PLACE(what, where, bytes) \\
	printf("%s|%llu|%llu\\n", what, (unsigned long long)((char *)(where) - base), (unsigned long long)(bytes))

int main(int argc, char **argv)
{
	static char base[1];
	struct syncevent_dpa d = { .base = base };
	struct se_geometry g;
	unsigned int s, i, a, k;

	if (argc != 4 || !se_geometry_choose(&g, strtoull(argv[1], NULL, 0), (unsigned int)atoi(argv[2]),
					     (unsigned int)atoi(argv[3])))
		return 1;
	d.side = s = a = g.sides - 1;
	i = g.slots - 1;
	k = g.payload_pages - 1;
	d.sides = g.sides;
	d.slots = g.slots;
	d.slot_shift = g.slot_shift;
	d.side_at = g.side;
	d.desc_at = g.desc;
	d.ack_at = g.ack;
	d.ring_at = g.ring;
	d.slot_at = g.slot;
	printf("size %llu\\nS %u\\nN %u\\nT %u\\ns %u\\ni %u\\na %u\\nb 1\\nk %u\\n", (unsigned long long)g.size,
	       g.sides, g.slots, 1U << g.slot_shift, s, i, a, k);
	printf("side_offset %llu\\ndesc_offset %llu\\nack_offset %llu\\nring_offset %llu\\nslot_offset %llu\\n"
	       "payload_offset %llu\\npayload pages %u\\n", (unsigned long long)g.side, (unsigned long long)g.desc,
	       (unsigned long long)g.ack, (unsigned long long)g.ring, (unsigned long long)g.slot,
	       (unsigned long long)g.payload, g.payload_pages);
	PLACE("header", base, sizeof(struct syncevent_region_header));
	PLACE("record of side s", se_dpa_side(&d, s), sizeof(struct syncevent_region_side));
	PLACE("descriptor of slot i", se_dpa_desc(&d, i), sizeof(struct syncevent_region_desc));
	PLACE("acknowledgement of side s for slot i", se_dpa_ack(&d, i), sizeof(struct syncevent_region_ack));
	PLACE("ring from side a to side b", se_dpa_ring(&d, a, 1), sizeof(struct syncevent_region_ring));
	PLACE("slot i", se_dpa_cell(&d, i), 1U << g.slot_shift);
	PLACE("payload page k", base + g.payload + (unsigned long long)k * SYNCEVENT_REGION_PAGE,
	      SYNCEVENT_REGION_PAGE);
	return 0;
}
"""
# Bytes, sides, and the slots' stride as a power of two.
CASES = [(128 << 10, 2, 12), (1 << 20, 2, 12), (16 << 20, 3, 12), (12345678, 5, 12), (16 << 20, 2, 16), (1 << 30, 64, 14)]
UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}


class Layout:
    """kmod/geometry.h and syncevent/dpa.h, of which geometry is the text of the first."""

    def __init__(self, geometry):
        self._folder = tempfile.TemporaryDirectory()
        with open(os.path.join(self._folder.name, "geometry.h"), "w", encoding="utf-8") as f:
            f.write(geometry)
        self._program = os.path.join(self._folder.name, "layout")
        run = subprocess.run(CC + ["-std=gnu11", "-O1", "-o", self._program, "-I", self._folder.name, "-I",
                                   os.path.join(TOP, "include"), "-I", os.path.join(TOP, "include/uapi"), "-x", "c", "-"],
                             input=LAYOUT, capture_output=True, text=True, timeout=120, check=False)
        if run.returncode:
            raise Bad(f"{' '.join(CC)} failed:\n{run.stderr}")

    def of(self, size, sides, shift):
        """({name: number}, {what: (offset, bytes)}) of a region, or None if it has no room."""
        run = subprocess.run([self._program, str(size), str(sides), str(shift)], capture_output=True, text=True,
                             timeout=60, check=False)
        if run.returncode:
            return None
        lines = run.stdout.splitlines()
        return ({name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines if "|" not in line)},
                {what: (int(at), int(size)) for what, at, size in (line.split("|") for line in lines if "|" in line)})


def evaluate(text, numbers):
    """A formula of the page: a blank is a multiplication, and division is of whole numbers."""
    text = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", text).replace(" / ", " // ")
    try:
        return eval(text, {"__builtins__": {}, "up": lambda x, y: -(-x // y) * y, "P": 4096}, numbers)
    except (SyntaxError, NameError, TypeError) as e:
        raise Bad(f"cannot read the formula {text!r}: {e}") from e


def compare_layout(layout, page, peers):
    """Where the documents have the parts of a region elsewhere: a list of lines."""
    complaints = []
    section = page.partition("### Geometry\n")[2].partition("\n### ")[0]
    formulas = re.findall(r"^    (\w+(?: \w+)*) += (.+)$", section, re.M)
    places = {row["what"]: (row["offset"], row["bytes"]) for heading, row in table_rows(page)
              if heading == "Geometry" and "what" in row}
    for case in CASES:
        numbers, found = layout.of(*case)
        for name, formula in formulas:
            if evaluate(formula, numbers) != numbers.get(name):
                complaints.append(f"{case}: {name} is {numbers.get(name)}, the page says {formula}")
        for what in sorted(places.keys() | found.keys()):
            said = [evaluate(text.replace("`", ""), numbers) for text in places.get(what, ())]
            if tuple(said) != found.get(what):
                complaints.append(f"{case}: {what} is at {found.get(what)}, the page says {places.get(what)}")
        if {name for name, _ in formulas} != {name for name in numbers if len(name) > 4}:
            complaints.append("the formulas are of other numbers")
    rows = [row for heading, row in table_rows(peers) if heading == "How much fits"]
    for row in rows:
        size, unit = row["memory"].split()
        numbers, _ = layout.of(int(size) * UNITS[unit], int(row["sides"]), 12)
        slots, pages, sides = numbers["N"], numbers["payload pages"], numbers["S"]
        wanted = [slots, slots // sides ** 2, pages, pages // sides]
        said = [int(row[name]) for name in ("slots", "of one creator and home", "payload pages", "of one creator")]
        if said != wanted:
            complaints.append(f"{row['memory']}, {sides} sides: {wanted}, {PEERS} says {said}")
    least = re.search(r"At least (\d+) KiB are needed for two sides", peers)
    if not rows or not least:
        complaints.append(f"{PEERS} does not say how much fits")
    elif not layout.of(int(least[1]) * 1024, 2, 12) or layout.of(int(least[1]) * 512, 2, 12):
        complaints.append(f"{PEERS}: {least[1]} KiB are not the least power of two")
    return complaints


# ---- mutants --------------------------------------------------------------------

# What, pattern, replacement: each must make the comparison fail.
PAGE_MUTANTS = [
    ("an offset", r"\| 20 \| 4 \| u32 \| `flags` \| in \| `SYNCEVENT_ARM_CLEAR`", "| 16 | 4 | u32 | `flags` | in | `SYNCEVENT_ARM_CLEAR`"),
    ("a size", r"\| 12 \| 2 \| u16 \| `sides`", "| 12 | 4 | u16 | `sides`"),
    ("a type", r"\| s32 \| `status` \| out \| 1:", "| u32 | `status` | out | 1:"),
    ("a direction of a field", r"\| `old` \| out", "| `old` | in"),
    ("a field renamed", r"`silent_max_ns` \| out", "`silent_most_ns` | out"),
    ("a field left out", r"\| 28 \| 4 \| u32 \| `reserved` \| in \| 0 \|\n", ""),
    ("a field invented", r"(### struct syncevent_queue_cancel: .*\n\n.*\n.*\n.*\n)", r"\1| 8 | 8 | u64 | `more` | in | 0 |\n"),
    ("a field twice", r"(\| 8 \| 8 \| u64 \| `old` .*\n)", r"\1\1"),
    ("a structure's size", r"struct syncevent_info: 64", "struct syncevent_info: 72"),
    ("a structure left out", r"### struct syncevent_add: 16 bytes(.|\n)*?(?=### struct)", ""),
    ("a 64-bit command number", r"0x4018b915 \| 0x4018b915", "0x4018b916 | 0x4018b915"),
    ("a 32-bit command number", r"0xc020b901 \| 0xc020b901", "0xc020b901 | 0xc01cb901"),
    ("a nr", r"\| 0x17 \|", "| 0x18 |"),
    ("a direction of a command", r"0x4008b911 \| W ", "0x4008b911 | WR "),
    ("a structure of a command", r"\| R \| `syncevent_info`", "| R | `syncevent_dev_info`"),
    ("a command left out", r"\| `SYNCEVENT_IOC_RING` \| 0x13.*\n", ""),
    ("a command's section left out", r"### SYNCEVENT_IOC_DUP\n", ""),
    ("a command invented", r"(\| `SYNCEVENT_IOC_)GET(` .*\n)", r"\1GET\2\1PEEK\2"),
    ("a constant's value", r"\| `SYNCEVENT_WAIT_MAX` \| 128", "| `SYNCEVENT_WAIT_MAX` | 64"),
    ("a 64-bit constant's value", r"`SYNCEVENT_NO_DEADLINE` \| 0xf", "`SYNCEVENT_NO_DEADLINE` | 0x7"),
    ("a constant left out", r"\| `SYNCEVENT_COND_LE` .*\n", ""),
    ("a constant invented", r"(\| `SYNCEVENT_COND_)LE(` .*\n)", r"\1LE\2\1XOR\2"),
    ("a stale name in the text", r"back to \"differs", 'SYNCEVENT_ARM_RESET: "differs'),
    ("a field of the shm page moved", r"\| 64 \| 4 \| u32 \| `seq`", "| 48 | 4 | u32 | `seq`"),
    ("a field of a blob left out", r"\| 16 \| 8 \| u64 \| `inode`.*\n", ""),
    ("a type in a blob of the library", r"\| 24 \| 16 \| u8\[16\] \| `key` \| of `struct se_shm`", "| 24 | 16 | u8[32] | `key` | of `struct se_shm`"),
    ("a constant of the shm page", r"`SE_SHM_MAGIC` \| 0x6873", "`SE_SHM_MAGIC` | 0x6874"),
    ("an array's length in a region", r"\| u64\[64\] \| `fenced`", "| u64[32] | `fenced`"),
    ("an array's offset in a region", r"\| 64 \| 512 \| u64\[64\]", "| 72 | 512 | u64[64]"),
    ("an array's size", r"\| 128 \| 2048 \| u64\[256\]", "| 128 | 4096 | u64[256]"),
    ("an array of two dimensions", r"\| 32 \| 32 \| u8\[2\]\[16\]", "| 32 | 32 | u8[16][2]"),
    ("an array of characters", r"\| char\[64\] \| `name`", "| u8[64] | `name`"),
    ("a structure in another", r"\| 8 \| 56 \| syncevent_blob \|", "| 8 | 56 | syncevent_import |"),
    ("a direction of a structure in another", r"\| `blob` \| out", "| `blob` | in"),
    ("a field of a region left out", r"\| 68 \| 4 \| u32 \| `request`.*\n", ""),
    ("a structure of a region left out", r"### struct syncevent_region_ack: 8 bytes(.|\n)*?(?=### struct)", ""),
    ("a constant of a region", r"\| `SYNCEVENT_REGION_MAGIC` \| 0x4e4f", "| `SYNCEVENT_REGION_MAGIC` | 0x4e4e"),
    ("a bound of a region", r"\| `SE_SLOTS_MAX` \| 65536", "| `SE_SLOTS_MAX` | 32768"),
    ("a command of a region", r"\| `SYNCEVENT_IOC_IMPORT` \| 0x31", "| `SYNCEVENT_IOC_IMPORT` | 0x32"),
    ("a misspelt errno", r"\| `EIDRM` \| the event", "| `EDIRM` | the event"),
]
HEADER_MUTANTS = [
    ("a new field", r"(\t__u32 subscribers;\n\t__u32 reserved;\n)", r"\1\t__aligned_u64 owner;\n"),
    ("a renamed field", r"__aligned_u64 cookie;\n\t__aligned_u64 operand", "__aligned_u64 tag;\n\t__aligned_u64 operand"),
    ("swapped fields", r"\t__u32 cond;\n\t__u32 flags;\n\};\n\n#define SYNCEVENT_ARM", "\t__u32 flags;\n\t__u32 cond;\n};\n\n#define SYNCEVENT_ARM"),
    ("a new flag", r"(#define SYNCEVENT_DUP_RDONLY)", r"#define SYNCEVENT_DUP_EXCL (1U << 2)\n\1"),
    ("a new command", r"(#define SYNCEVENT_IOC_REVOKE)", r"#define SYNCEVENT_IOC_SEAL _IO(SYNCEVENT_IOC_TYPE, 0x1f)\n\1"),
    ("a renumbered command", r"_IO\(SYNCEVENT_IOC_TYPE, 0x18\)", "_IO(SYNCEVENT_IOC_TYPE, 0x1f)"),
    ("a split field", r"\t__aligned_u64 value;\n\t__s32 status;", "\t__u32 low;\n\t__u32 high;\n\t__s32 status;"),
    ("a hole", r"(\t__s32 fd;\n)\t__u32 cond;\n(\t__aligned_u64 operand)", r"\1\2"),
    ("a longer name", r"(#define SYNCEVENT_PCI_NAME_MAX\s+)63", r"\g<1>127"),
    ("a longer key", r"(#define SYNCEVENT_KEY_SIZE\s+)16", r"\g<1>32"),
    ("a structure in another moved", r"\tstruct syncevent_blob blob;\n\t__u32 flags;\n\t__u32 reserved;",
     "\t__u32 flags;\n\t__u32 reserved;\n\tstruct syncevent_blob blob;"),
    ("an array of another type", r"\tchar name\[", "\t__u8 name["),
    ("an answer that is none", r"@blob: answer", "@blob: from elsewhere"),
]
REGION_MUTANTS = [
    ("fewer sides in a record", r"fenced\[SYNCEVENT_SIDES_MAX\];\n\t__aligned_u64 reserved_end\[56\]",
     "fenced[SYNCEVENT_SIDES_MAX / 2];\n\t__aligned_u64 reserved_end[88]"),
    ("a longer ring", r"(#define SYNCEVENT_RING_ENTRIES\s+)256U", r"\g<1>128U"),
    ("swapped dimensions", r"key\[2\]\[SYNCEVENT_KEY_SIZE\]", "key[SYNCEVENT_KEY_SIZE][2]"),
    ("swapped words of a ring", r"\t__u32 head;\n\t__u32 request;", "\t__u32 request;\n\t__u32 head;"),
    ("a new word of an acknowledgement", r"(\t__u32 import;\n)", r"\1\t__aligned_u64 seen;\n"),
    ("another magic", r"0x4e4f494745524553ULL", "0x4e4f494745524554ULL"),
    ("a new constant of a region", r"(#define SYNCEVENT_REGION_PAGE)", r"#define SYNCEVENT_REGION_LINE 64U\n\1"),
    ("another type of the same size", r"\t__u32 doorbell;\n\t__u32 address;", "\t__aligned_u64 doorbell;"),
]
HEADER_MUTANTS = [(HEADERS[0], *m) for m in HEADER_MUTANTS] + [(HEADERS[1], *m) for m in REGION_MUTANTS]
UNIT_MUTANTS = [
    ("swapped words", r"\tuint32_t gone;\n\tuint32_t import;", "\tuint32_t import;\n\tuint32_t gone;"),
    ("a wider word", r"uint32_t doorbell", "uint64_t doorbell"),
    ("fewer keys", r"key\[2\]\[16\]", "key[1][16]"),
    ("reserved words left out", r"\tuint64_t reserved_end\[56\];\n", ""),
    ("a structure left out", r"struct syncevent_region_ack \{[^}]*\};", ""),
    ("another right", r"(SYNCEVENT_RIGHT_UPDATE\s+)0x2U", r"\g<1>0x4U"),
    ("a constant of its own", r"(#define SYNCEVENT_STATE_FREE)", r"#define SYNCEVENT_STATE_NEW 4U\n\1"),
]
LAYOUT_MUTANTS = [
    (PAGE, "a part elsewhere", r"up\(256 N, P\)", "up(128 N, P)"),
    (PAGE, "a part that is not rounded up", r"up\(ring_offset \+ S S P, T\)", "ring_offset + S S P"),
    (PAGE, "a formula left out", r"    ring_offset    = .*\n", ""),
    (PAGE, "one of a part elsewhere", r"\+ \(a S \+ b\) P", "+ (b S + a) P"),
    (PAGE, "another size of one", r"`desc_offset` \+ 256 i \| 256", "`desc_offset` + 256 i | 128"),
    (PAGE, "a part left out", r"\| acknowledgement of side s for slot i .*\n", ""),
    (PEERS, "more slots", r"\| 16 MiB \| 3 \| 2043", "| 16 MiB | 3 | 2048"),
    (PEERS, "more pages of one creator", r"\| 56 \|\n", "| 112 |\n"),
    (PEERS, "too little memory", r"least 128 KiB", "least 64 KiB"),
    (PEERS, "more memory than is needed", r"least 128 KiB", "least 256 KiB"),
    (GEOMETRY, "another order", r"geo->ring \+ \(__u64\)sides \* sides \* page", "geo->ack + (__u64)sides * sides * page"),
    (GEOMETRY, "a third of it for slots", r"\(size / 2\)", "(size / 3)"),
    (GEOMETRY, "more slots", r"(define SE_SLOTS_MAX\s+)65536U", r"\g<1>131072U"),
]


def mutate(text, what, pattern, replacement):
    mutant, count = re.subn(pattern, replacement, text, count=1)
    if not count or mutant == text:
        raise Bad(f"the mutant '{what}' changes nothing: adapt its pattern")
    return mutant


def main():
    texts = {}
    for path in (*HEADERS, UNIT_HEADER, GEOMETRY, PAGE, PEERS):
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            texts[path] = f.read()
    headers, page = {path: texts[path] for path in HEADERS}, texts[PAGE]
    results = []

    def result(name, complaints):
        results.append(not complaints)
        print(f"{'not ok' if complaints else 'ok'} {len(results)} - {name}", flush=True)
        for line in complaints:
            for part in line.splitlines():
                print("# " + part)

    def caught(what, compare_it):
        """Whether there are complaints, by the call or as what cannot be understood at all."""
        try:
            found = compare_it()
        except Bad as e:
            # Holes and the like: the compiler must have taken it, and the pattern must fit.
            bad = "failed" in str(e) or "changes nothing" in str(e)
            result("caught " + what, [str(e)] if bad else [])
            return
        result("caught " + what, [] if found else ["not noticed"])

    print("TAP version 13")
    probe = subprocess.run(CC + ["-m32", "-E", "-x", "c", os.devnull], capture_output=True, timeout=60, check=False)
    if probe.returncode:
        print(f"1..0 # SKIP {' '.join(CC)} has no -m32: not an x86 compiler")
        return 77
    print(f"1..{3 + sum(map(len, (PAGE_MUTANTS, HEADER_MUTANTS, UNIT_MUTANTS, LAYOUT_MUTANTS)))}", flush=True)
    try:
        sources = source_facts(headers)
        header = {**header_facts(headers), **sources}
        result("docs/abi.md is as the headers", compare(header, page))
        result("a region is the same without Linux", compare_unit(header, unit_facts(texts[UNIT_HEADER])))
        result("the parts of a region lie where the documents say",
               compare_layout(Layout(texts[GEOMETRY]), page, texts[PEERS]))
    except Bad as e:
        print(f"Bail out! {str(e).splitlines()[0]}")
        print(e, file=sys.stderr)
        return 1

    def layout_with(path, *mutant):
        changed = {**texts, path: mutate(texts[path], *mutant)}
        return compare_layout(Layout(changed[GEOMETRY]), changed[PAGE], changed[PEERS])

    for what, *change in PAGE_MUTANTS:
        caught("on the page: " + what, lambda: compare(header, mutate(page, what, *change)))
    for path, what, *change in HEADER_MUTANTS:
        caught("in the header: " + what, lambda: compare(
            {**header_facts({**headers, path: mutate(texts[path], what, *change)}), **sources}, page))
    for what, *change in UNIT_MUTANTS:
        caught("without Linux: " + what, lambda: compare_unit(
            header, unit_facts(mutate(texts[UNIT_HEADER], what, *change))))
    for path, what, *change in LAYOUT_MUTANTS:
        caught(f"in {path}: {what}", lambda: layout_with(path, what, *change))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
