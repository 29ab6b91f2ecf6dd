#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The samples do what they say, on the shm provider, and the README shows what is true:
# its C block is samples/hello.c, and its two shells print what it says; likewise the C
# block of docs/pci-peers.md. (TAP; needs no module)
#
# usage: samples.sh
# environment: abs_top_srcdir, abs_top_builddir
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
samples=$abs_top_builddir/samples
tool=$abs_top_builddir/tools/syncevent
readme=$abs_top_srcdir/README.md
peers=$abs_top_srcdir/docs/pci-peers.md
hang="timeout -k 10 120"
export SYNCEVENT_PROVIDER=shm

work=$(mktemp -d) || exit 1
name=samples.$$
first=
# shellcheck disable=SC2317	# by trap
cleanup() {
	[ -z "$first" ] || kill "$first" 2>/dev/null
	rm -rf "$work" "/dev/shm/syncevent.$name"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

log=$work/log
# shellcheck source=selftests/tap.sh
. "${abs_top_srcdir:?}/selftests/tap.sh"

# What the README has in its blocks of a language, the N-th one.
block() {	# LANGUAGE N FILE
	awk -v start="\`\`\`$1" -v n="$2" \
		'$0 == start { on = ++k == n; next } /^```$/ { on = 0 } on' "$3"
}

shows() {	# FILE SAMPLE
	block c 1 "$1" >"$work/block"
	sed 1d "$abs_top_srcdir/samples/$2" | diff - "$work/block" >"$work/log" 2>&1
}

# The lines with a prompt, as a script; the others, as what it prints. The README's x
# is a name of ours here.
# shellcheck disable=SC2016	# for another shell
commands() {
	sed -n 's/^\$ syncevent \([a-z]* \)x/"$tool" \1"$name"/p' "$work/$1"
}
output() {
	grep -v '^\$ ' "$work/$1"
}

two_shells() {	# README
	block console 1 "$1" >"$work/1"
	block console 2 "$1" >"$work/2"
	export tool name
	commands 1 >"$work/1.sh"
	commands 2 >"$work/2.sh"
	output 1 >"$work/1.wanted"
	output 2 >"$work/2.wanted"
	if [ ! -s "$work/1.sh" ] || [ ! -s "$work/2.sh" ]; then
		echo "README.md has no two console blocks" >"$work/log"
		return 1
	fi
	$hang sh -e "$work/1.sh" >"$work/1.out" 2>"$work/log" &
	first=$!
	# The second one types once the first is there.
	until "$tool" get "$name" >/dev/null 2>&1; do
		kill -0 $first 2>/dev/null || break
	done
	$hang sh -e "$work/2.sh" >"$work/2.out" 2>>"$work/log"
	second=$?
	wait $first
	status=$?
	first=
	"$tool" rm "$name" >/dev/null 2>&1
	{
		diff "$work/1.wanted" "$work/1.out" && diff "$work/2.wanted" "$work/2.out"
	} >>"$work/log" 2>&1 && [ "$status" -eq 0 ] && [ "$second" -eq 0 ]
}

echo "TAP version 13"
[ "$($hang "$samples/hello" 2>"$work/log")" = "success: 5" ]
result $? "hello says what the README says"

printf 'a\nb\nc\n' | $hang "$samples/poll" "$name" >"$work/out" 2>"$work/log" &&
	[ "$(tail -n 1 "$work/out")" = "at the end 3" ]
result $? "poll adds a line each"
rm -f "/dev/shm/syncevent.$name"

# An event that has changed is told of, if the input stays open until then.
mkfifo "$work/in"
: >"$work/out"
$hang "$samples/poll" "$name" <"$work/in" >"$work/out" 2>"$work/log" &
first=$!
{
	echo
	until grep -q '^value 1$' "$work/out"; do
		kill -0 $first 2>/dev/null || break
	done
} >"$work/in"
wait $first && grep -q '^value 1$' "$work/out"
result $? "poll tells of a change"
first=
rm -f "/dev/shm/syncevent.$name"

for i in 0 1 2; do
	echo "worker $i is half through"
	echo "worker $i is through"
done >"$work/wanted"
$hang "$samples/queue" >"$work/out" 2>"$work/log" &&
	sort "$work/out" | diff "$work/wanted" - >"$work/log"
result $? "queue hears of every worker, half through and through"

# Two machines take guests: here are their samples' words alone.
says() {	# STATUS TEXT PROGRAM ARGUMENT...
	wanted=$1 text=$2
	shift 2
	$hang "$samples/$@" >"$work/log" 2>&1
	[ $? -eq "$wanted" ] && grep -q -- "$text" "$work/log"
}
for program in local_pci remote_pci; do
	says 0 "--pci-addr=ADDRESS" $program --help
	result $? "$program --help"
	says 2 "unrecognized option '--rdma'" $program --rdma
	result $? "$program: an unknown option"
	says 2 "'soon' is no number" $program --timeout soon
	result $? "$program: no number"
	says 1 "there is no such region" $program --pci-addr ffff:00:00.0
	result $? "$program: no such region"
done
says 1 "an argument is out of its range" remote_pci --blob "$readme"
result $? "remote_pci: what is no blob"

shows "$readme" hello.c
result $? "the README's program is samples/hello.c"
sed 's/SYNCEVENT_GE, 5/SYNCEVENT_GE, 6/' "$readme" >"$work/README.md"
! shows "$work/README.md" hello.c
result $? "noticed: another program in the README"
shows "$peers" hello_pci.c
result $? "the program of docs/pci-peers.md is samples/hello_pci.c"

if [ -x "$tool" ]; then
	two_shells "$readme"
	result $? "the README's two shells print what it says"
	sed 's/wait x --gt 0/wait x --gt 1/; s/add x$/add x 2/' "$readme" >"$work/README.md"
	! two_shells "$work/README.md"
	result $? "noticed: two shells that print something else"
else
	number=$((number + 1))
	echo "ok $number - the README's two shells # SKIP configured without the command"
fi
echo "1..$number"
exit $failed
