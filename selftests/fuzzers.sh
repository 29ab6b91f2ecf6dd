#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The fuzzers of selftests/fuzzers/, each for a number of inputs that starts from its
# seeds and is the same each time, with the address and undefined behaviour
# sanitizers. fuzzers.sh FOLDER leaves the programs there: FOLDER/blob -help=1.
set -u
top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}

# Name and inputs: some ten seconds of one CPU each.
fuzzers="blob 100000
name 12000
structure 200000
page 16000
args 80000
region 300000
comch 200000"

out=$(mktemp -d) || exit 1
# Where the names are: in /dev/shm, as not every file system has files without a name.
shm=$(mktemp -d /dev/shm/syncevent-fuzz.XXXXXX) || exit 1
trap 'rm -rf "$out" "$shm"' EXIT
trap 'exit 1' INT TERM
bin=${1:-$out}

if ! command -v clang >/dev/null; then
	echo "1..1"
	echo "ok 1 - clang # SKIP clang is not installed"
	exit 0
fi
echo "1..$(echo "$fuzzers" | wc -l)"

flags="-D_GNU_SOURCE -I$top/include -I$top/include/uapi -I$top/kmod -g -O1 -fno-omit-frame-pointer -pthread
	-fsanitize=address,undefined -fno-sanitize-recover=all"
wrap=-Wl,--wrap=open,--wrap=linkat,--wrap=unlink,--wrap=mmap,--wrap=mremap,--wrap=munmap
json=$(${PKG_CONFIG:-pkg-config} --cflags --libs json-c 2>/dev/null)

# The tool's parser comes with what it calls, as does comch.
build() {	# NAME
	more=
	case $1 in
	args) more="-I$top/tools $top/tools/args.c $top/tools/units.c $top/tools/out.c $json" ;;
	comch) more="-I$top/include/doca -I$top/lib/doca -DSED_VERSION=0 $top/lib/doca/*.c $json" ;;
	esac
	# shellcheck disable=SC2086	# lists of words
	clang $flags -Wall -Wextra -fsanitize=fuzzer -o "$bin/$1" "$top/selftests/fuzzers/$1.c" \
		"$top/selftests/fuzzers/world.c" "$out"/*.o $wrap $more
}

library() {
	for source in "$top"/lib/*.c; do
		# shellcheck disable=SC2086
		clang $flags -fsanitize=fuzzer-no-link -c -o "$out/$(basename "$source" .c).o" "$source" || return
	done
}

try() {	# NAME INPUTS
	if ! build "$1" >"$out/$1.log" 2>&1; then
		echo "not ok $1: it does not build"
		sed 's/^/# /' "$out/$1.log"
		return
	fi
	[ "$bin" = "$out" ] || { echo "ok $1: built"; return; }
	mkdir "$out/$1.found" "$shm/$1"
	SYNCEVENT_FUZZ_SHM=$shm/$1 ASAN_OPTIONS=detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=print_stacktrace=1 \
		timeout -k 10 600 "$out/$1" -runs="$2" -seed=1 -timeout=120 -max_len=600 -print_final_stats=1 \
		-artifact_prefix="$out/$1.input-" "$out/$1.found" "$top/selftests/fuzzers/seeds/$1" \
		>"$out/$1.log" 2>&1
	status=$?
	if [ $status -eq 0 ] && grep -q "^Done $2 runs" "$out/$1.log"; then
		echo "ok $1: $2 inputs"
		sed -n 's/^#[0-9]*[[:space:]]*DONE */# /p' "$out/$1.log"
	else
		echo "not ok $1: exit status $status"
		grep -v '^#[0-9]\|NEW_FUNC' "$out/$1.log" | tail -n 80 | sed 's/^/# /'
		for input in "$out/$1".input-*; do
			[ ! -f "$input" ] || { echo "# $(basename "$input")"; od -Ax -tx1z "$input" | sed 's/^/# /'; }
		done
	fi
}

if ! library >"$out/log" 2>&1; then
	echo "Bail out! the library does not build: $(tail -n 1 "$out/log")"
	exit 1
fi
# One after the other on each of two CPUs.
half() {	# PARITY
	echo "$fuzzers" | awk -v parity="$1" 'NR % 2 == parity' | while read -r name inputs; do
		try "$name" "$inputs"
	done
}
half 0 >"$out/results" &
half 1 >"$out/more"
wait
cat "$out/more" "$out/results" | awk '
	/^ok |^not ok / { sub(/^(not )?ok /, "&" ++n " - ") }
	{ print }'
