#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# Programs that were linked with the last release of libsyncevent run with this one:
# lib/libsyncevent.abi, in which the last release wrote down its symbols and public
# types, compared with this tree. abi-stable.sh --update writes it anew.
#
# The file is in the tree, rather than made of the last tag: a tarball has no tags,
# and the first release none before it; no old source has to build with a new
# compiler; and who breaks something, or lets a structure grow that begins with its
# size, which is allowed, shows it in the diff of this file.
#
# Macros and enumerations that no function or structure has the type of are not in it.
set -u
top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
baseline=$top/lib/libsyncevent.abi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# The library of a tree, with all that debug information says and whatever CFLAGS are.
library() {	# TREE OUTPUT
	soname=$(sed -n 's/^libsyncevent_la_.*-version-info \([0-9]*\):.*/libsyncevent.so.\1/p' "$1/lib/Makefile.am")
	(cd "$1" && ${CC:-cc} -shared -fPIC -g -O0 -w -pthread -fvisibility=hidden -D_GNU_SOURCE \
		-Iinclude -Iinclude/uapi -Wl,-soname,"$soname" \
		-Wl,--version-script=lib/libsyncevent.map -o "$2" lib/*.c)
}

# What a program sees: the public headers.
write() {	# TREE LIBRARY
	abidw --headers-dir "$1/include" --drop-private-types --drop-undefined-syms --no-corpus-path \
		--no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names "$2"
}

# What is new does no harm.
compare() {	# TREE LIBRARY
	write "$1" "$2" >"$out/new.abi" || return
	abidiff --no-added-syms "$baseline" "$out/new.abi"
}

if ! command -v abidiff >/dev/null; then
	echo "1..1"
	echo "ok 1 - abidiff # SKIP abidiff (abigail-tools) is not installed"
	exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
	echo "1..1"
	echo "ok 1 - abidiff # SKIP $(basename "$baseline") is of x86_64"
	exit 0
fi
if [ "${1:-}" = --update ]; then
	library "$top" "$out/lib.so" && write "$top" "$out/lib.so" >"$out/abi" || exit 1
	sed '1s/$/\n<!-- SPDX-License-Identifier: LGPL-2.1-or-later OR MIT -->/' "$out/abi" >"$baseline"
	exit
fi

# Broken trees have to be noticed, and what may be added has to pass.
number=0
try() {	# WANTED DESCRIPTION TREE
	number=$((number + 1))
	if ! library "$3" "$out/lib.so" >"$out/log" 2>&1; then
		got="it does not build"
	else
		compare "$3" "$out/lib.so" >"$out/log" 2>&1
		case $? in
		0) got=same ;;
		4 | 12) got=broken ;;
		*) got="it cannot be compared" ;;
		esac
	fi
	if [ "$got" = "$1" ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2 ($got)"
		sed 's/^/# /' "$out/log"
	fi
}

changed() {	# WANTED DESCRIPTION SED-SCRIPT FILE...
	wanted=$1 description=$2 script=$3
	shift 3
	rm -rf "$out/tree"
	mkdir "$out/tree"
	cp -R "$top/include" "$top/lib" "$out/tree"
	chmod -R u+w "$out/tree"
	for file; do
		sed "$script" "$top/$file" >"$out/tree/$file"
		if cmp -s "$top/$file" "$out/tree/$file"; then
			number=$((number + 1))
			echo "not ok $number - $description (nothing to change in $file)"
			return
		fi
	done
	try "$wanted" "$description" "$out/tree"
}

header=include/syncevent.h
echo "1..9"
try same "this tree" "$top"
changed broken "a removed function is noticed" '/syncevent_revoke;/d' lib/libsyncevent.map
changed broken "a function of another version is noticed" \
	's/LIBSYNCEVENT_0.1 {/LIBSYNCEVENT_0.2 {/' lib/libsyncevent.map
changed broken "another type of a parameter is noticed" \
	's/^int syncevent_queue_cancel(.*, uint64_t/int syncevent_queue_cancel(struct syncevent_queue *q, uint32_t/' \
	$header lib/queue.c
changed broken "members in another order are noticed" \
	'/^struct syncevent_many {/,/^}/{/uint64_t operand;/d; s/uint64_t mask;/&\n\tuint64_t operand;/}' $header
changed broken "a larger structure is noticed" \
	'/^struct syncevent_wait_opts {/,/^}/s/uint32_t how;/&\n\tuint64_t more;/' $header
changed broken "another value of a constant is noticed" \
	'/^enum syncevent_provider {/,/^}/s/SYNCEVENT_PROVIDER_SHM,/SYNCEVENT_PROVIDER_MORE,\n\t&/' $header
changed same "a constant may be added" \
	'/^enum syncevent_cond {/,/^}/s/SYNCEVENT_LE,/&\n\tSYNCEVENT_MORE,/' $header
changed same "a function may be added" '
	s/^int syncevent_disarm(struct syncevent \*ev);/&\nvoid syncevent_added(void);/
	s/^int syncevent_disarm(struct syncevent \*ev)$/void syncevent_added(void)\n{\n}\n\n&/
	s/^\tsyncevent_disarm;/&\n\tsyncevent_added;/' $header lib/event.c lib/libsyncevent.map
