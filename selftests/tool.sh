#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The syncevent command: each verb and each exit status, two processes, JSON, and
# what it says when something is wrong. Natively on the shm provider, in a guest
# on the kernel's.
set -u
p=shm
tool=${abs_top_builddir:-}/tools/syncevent
if [ -z "${abs_top_builddir:-}" ]; then		# a guest
	p=kernel
	tool=$(command -v syncevent)
fi
if [ ! -x "$tool" ]; then
	echo "1..0 # SKIP configured with --disable-tool"
	exit 0
fi
work=$(mktemp -d) || exit 1
event=tool-$$
children=
wild=
cleanup() {
	# shellcheck disable=SC2086
	[ -z "$children" ] || kill $children 2>/dev/null
	"$tool" rm -- "$event" "$event.b" "$event b" "$event-a" "$wild" >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

unset SYNCEVENT_PROVIDER

number=0 failed=0
result() {	# STATUS DESCRIPTION
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $number - $2"
	echo "# exit status $status, stdout and stderr:"
	sed 's/^/# /' "$work/out" "$work/err"
}

run() {		# ARGUMENT...
	"$tool" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# Exits with STATUS and prints exactly TEXT.
gives() {	# DESCRIPTION STATUS TEXT ARGUMENT...
	what=$1 wanted=$2 text=$3
	shift 3
	run "$@"
	[ $status -eq "$wanted" ] && [ "$(cat "$work/out")" = "$text" ]
	result $? "$what"
}

# Exits with STATUS, prints nothing, and complains with WORDS.
complains() {	# DESCRIPTION STATUS WORDS ARGUMENT...
	what=$1 wanted=$2 words=$3
	shift 3
	run "$@"
	[ $status -eq "$wanted" ] && [ ! -s "$work/out" ] && grep -q -e "$words" "$work/err"
	result $? "$what"
}

# Tries until a thing is so. It is a hang limit, not a time that is expected.
eventually() {	# COMMAND...
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || return 1
		sleep 0.05
	done
}

begin() {	# FILE ARGUMENT...: in the background, as $child
	file=$1
	shift
	: >"$work/$file"	# before someone counts its lines
	"$tool" "$@" >"$work/$file" 2>"$work/$file.err" </dev/null &
	child=$!
	children="$children $child"
}

end() {		# gets the status of $child, and shows its output if that is wrong
	wait "$child"
	status=$?
	cp "$work/$1" "$work/out"
	cp "$work/$1.err" "$work/err"
}

lines() {	# FILE NUMBER: it has so many
	[ "$(wc -l <"$work/$1")" -ge "$2" ]
}

holds_event() {	# PID EVENT: it has the event open
	if [ "$SYNCEVENT_PROVIDER" = shm ]; then
		grep -q "syncevent\.$2" "/proc/$1/maps" 2>/dev/null
	else
		"$tool" --json list | grep -q "\"name\":\"$2\"[^}]*\"waiters\":[1-9]"
	fi
}

# ---- the command line: no event is touched -------------------------------------------

usage() {	# WORDS ARGUMENT...
	complains "usage: '$(shift; echo "$*")'" 2 "$@"
}

command_line() {
	usage "command is missing"
	usage "no command 'frob'" frob
	usage "unrecognized option" --frob
	usage "\"kernel\" or \"shm\"" --provider doca list
	for verb in create get set add wait watch rm; do
		usage "name of an event is missing" $verb
	done
	usage "too many" get one two
	usage "too many" list one
	usage "value is missing" set one
	for value in '' -1 +1 ' 1' 1x 0x 0x1g 1.5 18446744073709551616 0x10000000000000000; do
		usage "number from 0 to" set one -- "$value"
	done
	usage "invalid option" set one -5
	usage "mask must be" wait one --eq 1 --mask all
	usage "to compare with" wait one --eq -1
	usage "what to wait for" wait one
	usage "one condition only" wait one --eq 1 --gt 2
	usage "spin, yield, block" wait one --eq 1 --how fast
	for value in '' s 2x -1s 1.s .5s '1 s' 99999999999h; do
		usage "a time is like" wait one --eq 1 "--timeout=$value"
	done
	for value in '' 8 0x1 1000 -1 u=rw; do
		usage "mode is octal" create one "--mode=$value"
	done
	usage "at least 1" watch one --count 0

	for verb in '' info create get set add wait watch list rm selftest; do
		# shellcheck disable=SC2086	# no word if empty
		run $verb --help
		[ $status -eq 0 ] && grep -q "^Usage: syncevent $verb" "$work/out" && [ ! -s "$work/err" ]
		result $? "help: '$verb'"
	done
	run --version
	[ $status -eq 0 ] && grep -q '^syncevent [0-9]' "$work/out"
	result $? "version"
	export SYNCEVENT_PROVIDER=doca
	complains "a senseless provider in the environment" 1 "'doca'" get one
	unset SYNCEVENT_PROVIDER
}

# ---- one process -------------------------------------------------------------------------

values() {	# EVENT
	gives "$p create" 0 "" create "$1" --value 0x10
	complains "$p create again" 1 "syncevent rm $1" create "$1"
	gives "$p get" 0 16 get "$1"
	gives "$p get as JSON" 0 "{\"name\":\"$1\",\"value\":16}" --json get "$1"
	gives "$p set" 0 "" set "$1" 18446744073709551615
	gives "$p all 64 bits as JSON" 0 "{\"name\":\"$1\",\"value\":18446744073709551615}" get "$1" -j
	gives "$p add wraps" 0 1 add "$1" 2
	gives "$p add 1" 0 2 add "$1"
	gives "$p set and add as JSON" 0 "{\"name\":\"$1\",\"value\":7}" add "$1" 5 --json
	for condition in "--eq 7" "--ne 8" "--gt 6" "--ge 7" "--lt 8" "--le 7" "--eq 3 --mask 0x3"; do
		for how in spin yield block adaptive; do
			# shellcheck disable=SC2086
			gives "$p wait $condition --how $how" 0 7 wait "$1" $condition --how $how
		done
	done
	for condition in "--eq 8" "--ne 7" "--gt 7" "--ge 8" "--lt 7" "--le 6" "--eq 7 --mask 0x3"; do
		# shellcheck disable=SC2086
		complains "$p wait $condition times out" 124 "value of '$1' is 7" \
			wait "$1" $condition --timeout 0
	done
	for how in spin yield block adaptive; do
		complains "$p --how $how times out" 124 "timed out" \
			wait "$1" --gt 7 --timeout 0.01s --how $how
	done
	gives "$p a time-out as JSON" 124 "{\"name\":\"$1\",\"result\":\"timeout\"}" \
		wait "$1" --gt 7 --timeout 1ms --json
	run watch "$1" --timeout 0 --json
	[ $status -eq 124 ] && [ "$(sed 's/"time_ns":[0-9]*/TIME/' "$work/out")" = \
		"{\"name\":\"$1\",TIME,\"value\":7}" ]
	result $? "$p watch times out"
}

listed() {	# EVENT
	run list
	[ $status -eq 0 ] && grep -q "^NAME .*VALUE" "$work/out" &&
		grep -q "^$1  *7  *live  *0600  *$(id -un) " "$work/out"
	result $? "$p list"
	run --json list
	[ $status -eq 0 ] && grep -q "{\"name\":\"$1\",\"state\":\"live\",\"mode\":\"0600\"" "$work/out"
	result $? "$p list as JSON"
	run info
	[ $status -eq 0 ] && grep -q "^provider  *$p" "$work/out"
	result $? "$p info"
	run info --json
	[ $status -eq 0 ] && grep -q "\"provider\":\"$p\",\"why\":\"SYNCEVENT_PROVIDER" "$work/out"
	result $? "$p info as JSON"
	grep -q '"doca":\[{"where":"host","device":"0000:01:00.0","representor":null}' "$work/out"
	result $? "$p info has the devices of the virtual pair"
	run selftest
	[ $status -eq 0 ] && grep -q "^ok 1 - " "$work/out" && ! grep -q "^not ok" "$work/out"
	result $? "$p selftest"
	run selftest --json
	[ $status -eq 0 ] && grep -q '^{"ok":true,' "$work/out"
	result $? "$p selftest as JSON"
}

# ---- two processes ---------------------------------------------------------------------------

together() {	# EVENT
	begin waiter wait "$1" --gt 100 --timeout 300s
	eventually holds_event "$child" "$1"
	result $? "$p another process waits"
	run set "$1" 100
	run set "$1" 101
	end waiter
	[ $status -eq 0 ] && [ "$(cat "$work/out")" = 101 ]
	result $? "$p and is woken"

	begin watcher watch "$1" --count 2
	eventually lines watcher 1
	run set "$1" 102
	eventually lines watcher 2
	run set "$1" 103
	end watcher
	[ $status -eq 0 ] && [ "$(awk '{ printf "%s ", $3 }' "$work/out")" = "101 102 103 " ]
	result $? "$p watch sees each change"

	# SIGINT goes the same way, but a shell lets its background ignore it.
	begin watcher watch "$1"
	eventually lines watcher 1
	kill -TERM "$child"
	end watcher
	result $status "$p SIGTERM ends watch"
	{
		"$tool" watch "$1" 2>"$work/err"
		echo $? >"$work/out"
	} | head -n 1 >/dev/null
	status=$(cat "$work/out")
	[ "$status" = 0 ] && [ ! -s "$work/err" ]
	result $? "$p watch ends when its reader does"
}

revoked() {	# EVENT
	begin watcher watch "$1"
	watcher=$child
	begin waiter wait "$1" --gt 1000 --json
	eventually holds_event "$child" "$1"
	eventually lines watcher 1
	gives "$p rm --revoke" 0 "" rm --revoke "$1"
	end waiter
	[ $status -eq 3 ] && [ "$(cat "$work/out")" = "{\"name\":\"$1\",\"result\":\"revoked\"}" ] &&
		grep -q "revoked" "$work/err"
	result $? "$p a wait for a revoked event ends with 3"
	child=$watcher
	end watcher
	[ $status -eq 3 ] && grep -q "revoked" "$work/err"
	result $? "$p and so does a watch"
	complains "$p and its name is gone" 1 "syncevent create $1" get "$1"
}

# ---- what goes wrong --------------------------------------------------------------------------

without_stdout() {	# EVENT, which is 7
	for arguments in "get $1" "get --json $1" list "list --json" info selftest --help "watch $1"; do
		# shellcheck disable=SC2086
		"$tool" $arguments >/dev/full 2>"$work/err"
		status=$?
		: >"$work/out"
		[ $status -eq 1 ] && grep -q "cannot write" "$work/err"
		result $? "$p ${arguments%% *} into a full device"
	done
	"$tool" add "$1" >&- 2>"$work/err"
	status=$?
	[ $status -eq 1 ] && grep -q "cannot write" "$work/err"
	result $? "$p add with stdout closed says so"
	"$tool" get "$1" >"$work/out" 2>&- <&-
	status=$?
	[ $status -eq 0 ] && [ "$(cat "$work/out")" = 8 ]
	result $? "$p and has added once, the number and no text"
}

# Runs the command as someone whom modes keep out.
unprivileged() {	# ARGUMENT...
	if [ "$(id -u)" -ne 0 ]; then
		"$tool" "$@"
	elif [ $p = kernel ]; then
		su tester -s /bin/sh -c "$tool $*"
	else
		setpriv --bounding-set=-dac_override,-dac_read_search "$tool" "$@"
	fi >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

denied() {	# EVENT
	gives "$p create --mode" 0 "" create "$1" --mode 0
	for verb in get add; do
		unprivileged $verb "$1"
		[ $status -eq 1 ] && grep -q "$1 belongs to .* mode 0000.*chmod" "$work/err"
		result $? "$p $verb without the right"
	done
	unprivileged list
	[ $status -eq 0 ] && grep -q "^$1  *-  *unknown  *0000 .*denied" "$work/out"
	result $? "$p list of an event that denies itself"
	gives "$p rm" 0 "" rm "$1"
}

names_of_all_kinds() {	# EVENT, which is not there
	for verb in get "set 1" add "wait --eq 1" watch rm; do
		option=
		[ "$verb" = "${verb% *}" ] || option=${verb#* }
		# shellcheck disable=SC2086
		complains "$p ${verb%% *} of no event" 1 "no event '$1'" ${verb%% *} "$1" $option
	done
	run create "$1.b"
	run rm --json "$1.a" "$1.b" "$1.c"
	[ $status -eq 1 ] && [ "$(cat "$work/out")" = "{\"removed\":[\"$1.b\"]}" ] &&
		grep -q "'$1.a'" "$work/err" && grep -q "'$1.c'" "$work/err"
	result $? "$p rm of several, of which one is there"
	run create "$1" --silent --value 7
	run list
	grep -q "^$1 .*silent" "$work/out"
	result $? "$p create --silent"
	[ "$("$tool" get "$1")" = 7 ]
	result $? "$p create --value"
	run rm "$1"
	long=$(printf '%0300d' 0)
	for name in a/b .hidden .. "$long" ''; do
		complains "$p '$(printf %.8s "$name")' is no name" 1 "cannot be a name" create -- "$name"
	done

	wild=$1$(printf '\033[31m\377"\134')
	run create -- "$wild"
	[ $status -eq 0 ]
	result $? "$p a name of control characters"
	run get "$wild.no"
	[ $status -eq 1 ] && ! grep -q "$(printf '\033')" "$work/err" && grep -q "\\\\x1b\[31m" "$work/err"
	result $? "$p which a message escapes"
	run list
	[ $status -eq 0 ] && ! grep -q "$(printf '\033')" "$work/out" && grep -q "\\\\x1b\[31m" "$work/out"
	result $? "$p as does a list"
	run list --json
	[ $status -eq 0 ] && ! grep -q "$(printf '\033')" "$work/out"
	result $? "$p and JSON"
}

# A judge that knows JSON, which guests lack: there the texts above are compared.
json() {	# EVENT
	run rm --json "$1"
	for arguments in "create $1" "get $1" "set $1 5" "add $1" "wait $1 --eq 6" \
		"wait $1 --eq 7 --timeout 0" "watch $1 --timeout 0" list info selftest "rm $1"; do
		# shellcheck disable=SC2086
		run --json $arguments
		[ "$(wc -l <"$work/out")" -eq 1 ] &&
			python3 -m json.tool <"$work/out" >/dev/null 2>>"$work/err"
		result $? "$p the JSON of ${arguments%% *}"
	done
}

# The completion for bash, asked as readline does. It knows what the command has.
ask_bash() {	# WORD...: prints what completes the last one
	# shellcheck disable=SC2016
	bash -c '. "$1" && shift && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && _syncevent
		printf "%s\n" "${COMPREPLY[*]}"' - \
		"${abs_top_srcdir:?}/tools/completion/syncevent" "$@" >"$work/out" 2>"$work/err"
	status=$?
}

completes() {	# WORDS WORD...
	wanted=$1
	shift
	ask_bash "$@"
	[ "$(cat "$work/out")" = "$wanted" ] && [ ! -s "$work/err" ]
	result $? "completion of '$*'"
}

completion() {	# EVENT
	run --help
	verbs=$(sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' "$work/out" | tr '\n' ' ')
	completes "${verbs% }" syncevent ""
	for verb in create wait watch rm; do
		run $verb --help
		options=$(grep -o -e '^ .*--[a-z]*' "$work/out" | grep -o -e '--[a-z]*' | sort | tr '\n' ' ')
		ask_bash syncevent $verb -
		[ "$(tr ' ' '\n' <"$work/out" | sort | tr '\n' ' ')" = "$options" ]
		result $? "the options of $verb"
	done
	run create "$1 b"
	run create "$1-a"
	completes "$1\\ b $1-a" syncevent -p shm get "$1"
	completes "" syncevent --provider = kernel get "$1"
	completes "" syncevent get "$1-a" ""
	completes "$1-a" syncevent wait --gt 5 "$1-"
	completes "adaptive spin yield block" syncevent wait "$1-a" --how ""
	run rm "$1 b" "$1-a"
}

# ---- a machine with larger pages ------------------------------------------------------------

# Its kernel maps no event between machines. What an add is told with that error is not meant.
larger_pages() {
	echo 'int syncevent_import_name(void); int syncevent_import_name(void) { return -95; }' |
		"${CC:-cc}" -shared -fPIC -x c -o "$work/larger.so" - >"$work/out" 2>&1
	for verb in get add "wait --ge 1"; do
		export LD_PRELOAD="$work/larger.so"
		# shellcheck disable=SC2086
		run $verb --on 0000:00:10.0 "$1"
		unset LD_PRELOAD
		[ $status -eq 1 ] && [ ! -s "$work/out" ] &&
			grep -q " '$1' on 0000:00:10.0: the pages of this machine" "$work/err"
		result $? "larger pages: $verb"
	done
}

# ---- all of it ----------------------------------------------------------------------------------

if [ $p = kernel ]; then
	complains "kernel: no names yet" 1 "mount -t synceventfs none /dev/syncevents" create "$event"
	mkdir -p /dev/syncevents
	mount -t synceventfs none /dev/syncevents >"$work/out" 2>&1
	result $? "kernel: synceventfs"
	trap 'cleanup; umount /dev/syncevents' EXIT
	run info
	grep -q "^why .*there is /dev/syncevent" "$work/out"
	result $? "kernel: the default where there is a module"
else
	command_line
	if [ ! -e /dev/syncevent ]; then
		complains "no module" 1 "modprobe syncevent" --provider kernel info
		complains "no module, no event" 1 "modprobe syncevent" --provider kernel get "$event"
	fi
fi
export SYNCEVENT_PROVIDER=$p
values "$event"
listed "$event"
without_stdout "$event"
run set "$event" 100
together "$event"
revoked "$event"
denied "$event"
[ $p = kernel ] || completion "$event"
names_of_all_kinds "$event"
[ $p = kernel ] || json "$event"
[ $p = kernel ] || larger_pages "$event"
run rm -- "$wild"
run list
! grep -q "^$event" "$work/out"
result $? "$p nothing is left"
echo "1..$number"
[ $failed -eq 0 ]
