#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Does docs/abi.md say what the headers in include/uapi/linux say, the module of the
bounds of a region, and the library of what processes share without the module? (TAP)

The facts come from the compiler, for 64- and for 32-bit programs,
through assembly text: nothing is run, so 32-bit libraries are not needed.
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


def compile_values(texts, bits, wanted, source_file=None):
    """Value of each C expression of wanted, as a C compiler for that many bits sees it.

    texts: of HEADERS
    source_file: a file of the library or module that is to be seen too
    """
    source = [f"#include <linux/{os.path.basename(path)}>" for path in texts]
    source = ["#include <stddef.h>", *source, "void values(void);", "void values(void)", "{"]
    if source_file:
        source.insert(0, f'#include "{os.path.abspath(source_file)}"')
    for i, expr in enumerate(wanted):
        for half, shift in (("l", 0), ("h", 32)):
            source.append('\t__asm__ volatile("\\n@@ %d %s %%0 @@" : : "i"((int)(unsigned int)'
                          "((unsigned long long)(%s) >> %d)));" % (i, half, expr, shift))
    source.append("}\n")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "linux"))
        for path, text in texts.items():
            with open(os.path.join(folder, "linux", os.path.basename(path)), "w", encoding="utf-8") as f:
                f.write(text)
        # The second folder: <asm/types.h>, if the 32-bit packages are not there.
        run = subprocess.run(CC + [f"-m{bits}", "-std=gnu11", "-O1", "-S", "-o", "-", "-I", folder,
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


def mutate(text, what, pattern, replacement):
    mutant, count = re.subn(pattern, replacement, text, count=1)
    if not count or mutant == text:
        raise Bad(f"the mutant '{what}' changes nothing: adapt its pattern")
    return mutant


def main():
    texts = {}
    for path in HEADERS:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            texts[path] = f.read()
    with open(os.path.join(TOP, "docs/abi.md"), encoding="utf-8") as f:
        page = f.read()
    results = []

    def result(name, complaints):
        results.append(not complaints)
        print(f"{'not ok' if complaints else 'ok'} {len(results)} - {name}", flush=True)
        for line in complaints:
            for part in line.splitlines():
                print("# " + part)

    print("TAP version 13")
    probe = subprocess.run(CC + ["-m32", "-E", "-x", "c", os.devnull], capture_output=True, timeout=60, check=False)
    if probe.returncode:
        print(f"1..0 # SKIP {' '.join(CC)} has no -m32: not an x86 compiler")
        return 77
    print(f"1..{1 + len(PAGE_MUTANTS) + len(HEADER_MUTANTS)}", flush=True)
    try:
        sources = source_facts(texts)
        header = {**header_facts(texts), **sources}
    except Bad as e:
        print(f"Bail out! {str(e).splitlines()[0]}")
        print(e, file=sys.stderr)
        return 1
    result("docs/abi.md is as the headers", compare(header, page))
    for what, pattern, replacement in PAGE_MUTANTS:
        try:
            caught = compare(header, mutate(page, what, pattern, replacement))
            result("caught on the page: " + what, [] if caught else ["not noticed"])
        except Bad as e:
            result("caught on the page: " + what, [str(e)])
    for path, what, pattern, replacement in HEADER_MUTANTS:
        try:
            mutant = {**texts, path: mutate(texts[path], what, pattern, replacement)}
        except Bad as e:
            result("caught in the header: " + what, [str(e)])
            continue
        try:
            caught = compare({**header_facts(mutant), **sources}, page)
        except Bad as e:
            # Holes and the like: the compiler must have taken it.
            caught = [] if "failed" in str(e) else [str(e)]
        result("caught in the header: " + what, [] if caught else ["not noticed"])
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
