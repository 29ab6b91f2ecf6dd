#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The libraries and the shm provider with the address, undefined behaviour and thread
# sanitizers: the native test programs of tests.conf, with fewer rounds. A report is
# a failure, even one of a child whose exit status nobody looks at.
#
# What goes between processes is beyond the thread sanitizer, and it ignores the
# children of processes with threads. The threads of one process, that of the library
# among them, it sees.
set -u
top=${abs_top_srcdir:?}
conf=$top/selftests/tests.conf
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# shm_steps goes through the library by instructions, not those of a sanitizer too.
programs=$(awk '$1 ~ /^[a-z]/ && $1 !~ /(\.sh|\.py|-m32|^shm_steps)$/ && "," $2 "," ~ /,native,/ { print $1 }' "$conf")
# shellcheck disable=SC2086	# a list of words
set -- $programs
echo "1..$(($# * 2))"

harness=$(SYNCEVENT_CACHE=${SYNCEVENT_CACHE:-} python3 -B "$top/selftests/vm/fetch" kselftest 2>"$out/fetch")
if [ -z "$harness" ] || [ $# -eq 0 ]; then
	echo "Bail out! no test harness, or no test: $(tail -n 1 "$out/fetch")"
	exit 1
fi

# The shadow memory of the thread sanitizer does not go with every random layout
# of the address space (vm.mmap_rnd_bits above 28).
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=

json=$(${PKG_CONFIG:-pkg-config} --cflags --libs json-c)
SYNCEVENT_PROVIDER=shm
SE_PERCENT=${SE_PERCENT:-5}
export SYNCEVENT_PROVIDER SE_PERCENT

build() {	# FOLDER FLAG [PROGRAM]
	# -w: gcc warns that the thread sanitizer does not know fences. Here they order
	# atomic accesses only, among which there are no races.
	flags="-D_GNU_SOURCE -isystem $harness -I$top/include -I$top/include/uapi -I$top/selftests
		-I$top/include/doca -DDOCA_ALLOW_EXPERIMENTAL_API -DSED_VERSION=0
		-g -O1 -fno-omit-frame-pointer -pthread -w -fsanitize=$2 -fno-sanitize-recover=all"
	if [ $# -eq 3 ]; then
		# shellcheck disable=SC2086	# lists of words
		${CC:-cc} $flags -o "$1/$3" "$top/selftests/$3.c" "$1"/*.o $json
		return
	fi
	for source in "$top"/lib/*.c "$top"/lib/doca/*.c; do
		object=${source#"$top/lib/"}
		# shellcheck disable=SC2086
		${CC:-cc} $flags -c -o "$1/$(echo "${object%.c}" | tr / -).o" "$source" || return
	done
}

# Prints the result of one program, without "ok" and number.
try() {	# FOLDER FLAG PROGRAM
	rm -f "$1"/report.*
	if ! build "$@" >"$1/out" 2>&1; then
		echo "not ok $3, $2: it does not build"
		sed 's/^/# /' "$1/out"
		return
	fi
	options="log_path=$1/report:print_stacktrace=1"
	ASAN_OPTIONS=$options:detect_stack_use_after_return=1 UBSAN_OPTIONS=$options \
		TSAN_OPTIONS=$options:die_after_fork=0 \
		$fixed sh "$top/selftests/vm/native-run" "$conf" "$1/$3" >"$1/out" 2>&1
	status=$?
	cases=$(grep -c '^ok ' "$1/out")
	skipped=$(grep -c '^ok .*# SKIP' "$1/out")
	# Not all that they write is a report: an exit of a forked child makes remarks.
	reports=$(grep -lE 'SUMMARY:|ERROR:|WARNING:|runtime error:|CHECK failed' "$1"/report.* 2>/dev/null | head -n 5)
	if [ $status -eq 0 ] && [ "$cases" -gt "$skipped" ] && [ -z "$reports" ]; then
		echo "ok $3, $2: $((cases - skipped)) cases, $skipped skipped"
	else
		echo "not ok $3, $2: exit status $status"
		grep -v '^ok\|RUN\|  OK ' "$1/out" | tail -n 60 | sed 's/^/# /'
		find "$1" -name 'report.*' | head -n 5 | xargs -r cat | head -n 200 | sed 's/^/# /'
	fi
}

# All programs with one sanitizer.
job() {	# FOLDER FLAG PROGRAM...
	folder=$out/$1 flag=$2
	shift 2
	mkdir "$folder"
	if ! build "$folder" "$flag" >"$folder/log" 2>&1; then
		for program; do
			echo "not ok $program, $flag: the library does not build"
		done
		sed 's/^/# /' "$folder/log"
		return
	fi
	for program; do
		try "$folder" "$flag" "$program"
	done
}

# Each keeps a CPU busy.
job tsan thread "$@" >"$out/results" &
job asan address,undefined "$@" >"$out/more"
wait
cat "$out/more" "$out/results" | awk '
	/^ok |^not ok / { sub(/^(not )?ok /, "&" ++n " - ") }
	{ print }'
