#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The syncevent command between two machines: the verbs with --on, peers, export, import.
# Side 0 makes "job", side 1 makes "ack".
set -u
work=$(mktemp -d) || exit 1
log=$work/log
holder=
carriers=
trap 'kill $holder $carriers 2>/dev/null; rm -rf "$work"' EXIT
. "$(dirname "$0")/tap.sh"

# Prints and exits as wanted: STATUS and, if given, all that it prints.
gives() {	# DESCRIPTION STATUS TEXT ARGUMENT...
	what=$1 wanted=$2 text=$3
	shift 3
	syncevent "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	{ echo "syncevent $*: $status"; cat "$work/out" "$work/err"; } >>"$log"
	[ $status -eq "$wanted" ] && { [ "$text" = "*" ] || [ "$(cat "$work/out")" = "$text" ]; }
	result $? "$what"
}

# Complains with these words, prints nothing else.
refuses() {	# DESCRIPTION STATUS WORDS ARGUMENT...
	what=$1 wanted=$2 words=$3
	shift 3
	syncevent "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	{ echo "syncevent $*: $status"; cat "$work/out" "$work/err"; } >>"$log"
	[ $status -eq "$wanted" ] && [ ! -s "$work/out" ] && grep -q -- "$words" "$work/err"
	result $? "$what"
}

# Until it succeeds.
eventually() {	# COMMAND...
	for _ in $(seq 600); do
		"$@" >>"$log" 2>&1 && return 0
		sleep 0.1
	done
	return 1
}

# A blob goes to the other machine as the values of events, of 8 bytes each.
carry() {	# BLOB
	n=0
	for part in $(echo "$1" | sed 's/.\{16\}/& /g'); do
		syncevent create part$n --on "$address" --value 0x"$part" >/dev/null 2>>"$log" &
		carriers="$carriers $!"
		n=$((n + 1))
	done
}

carried() {
	for n in 0 1 2 3 4 5 6; do
		eventually syncevent get part$n --on "$address" || return
		printf %016x "$(syncevent get part$n --on "$address")"
	done
}

both_alive() {
	[ "$(syncevent peers | grep -c ' alive \| alive$\| here ')" = 2 ]
}

# As docs/pci-peers.md and syncevent(1) show it, but for what other tests left behind.
shows_both() {
	first=here second=alive note="  0 of 1024 events used"
	[ "$SE_SIDE" = 0 ] || { first=alive second=here; }
	{
		echo "DEVICE              PCI ADDRESS  SIDE STATE NOTE"
		echo "/dev/syncevent_pci0 0000:00:10.0    0 $first"
		echo "                    0000:00:10.0    1 $second"
	} | sed "s/ here/&$note/" >"$work/wanted"
	syncevent peers | sed 's/[0-9]* of 1024/0 of 1024/; s/ *$//' | diff "$work/wanted" - >>"$log"
}

# Of the event that the holder has.
shows() {	# LINE
	grep -q "^syncevent-$1$" /proc/$holder/fdinfo/*
}

echo "1.."$((SE_SIDE ? 20 : 28))
eventually both_alive
result $? "both machines are alive"
address=$(syncevent peers --json | sed 's/.*"address":"\([^"]*\)","attached".*/\1/')
syncevent peers --json >>"$log"
shows_both
result $? "peers shows both"
echo "$address" | grep -q '^0000:00:[0-9a-f]*\.0$'
result $? "peers tells the address of the device"
syncevent peers --json | grep -q "\"side\":$SE_SIDE,.*\"sides\":\[{\"side\":0,.*{\"side\":1,"
result $? "and the sides"
syncevent info | sed -n 's/^DOCA  *//p' >"$work/doca"
{
	echo "here              -d $address -r 0000:00:10.0"
	echo "on side $((1 - SE_SIDE))         -d 0000:00:10.0 -r $address"
} | diff - "$work/doca" >>"$log"
result $? "info tells what DOCA programs take"
su tester -s /bin/sh -c "$(command -v syncevent) info --json" |
	grep -q '"doca":\[{"error":"/dev/syncevent_pci0: permission denied: it is for root and the group syncevent"}\]'
result $? "and who may use them"

mine=job other=ack
[ "$SE_SIDE" = 0 ] || { mine=ack; other=job; }
syncevent create quiet$SE_SIDE --on "$address" 2>>"$log" &
holder=$!
eventually shows "waiters:.1" && syncevent add quiet$SE_SIDE --on "$address" >>"$log" &&
	syncevent set quiet$SE_SIDE 7 --on "$address" && shows "value:.7" && shows "rings:.0"
result $? "create asks for no ring"
kill $holder
wait $holder 2>/dev/null

syncevent create $mine --on "$address" --payload 2 --value 5 --json >"$work/made" 2>>"$log" &
holder=$!
eventually grep -q "\"name\":\"$mine\",\"value\":5" "$work/made"
result $? "create holds an event"
eventually syncevent get $other --on "$address"
result $? "the other machine's event is there"

if [ "$SE_SIDE" = 1 ]; then
	gives "wait across" 0 7 wait job --on "$address" --ge 7 --timeout 60s
	blob=$(carried)
	gives "import of another machine's event" 0 \
		"value 7, rights read, update, home side 0, payload 8192 bytes" import "$blob"
	gives "add across" 0 8 add job --on "$address"
	gives "wait for the own add" 0 8 wait job --on "$address" --eq 8 --timeout 60s
	echo "$blob" | syncevent import - --json >"$work/out" 2>>"$log"
	[ "$(cat "$work/out")" = '{"value":8,"update":true,"home":0,"payload":8192}' ]
	result $? "import shows that it is this one"
	gives "set the own" 0 "" set ack 6 --on "$address"
	refuses "export what another machine made" 1 "another machine made" export job --on "$address"
	gives "wait that times out" 124 "*" wait job --on "$address" --ge 99 --timeout 1ms
	gives "set, for who watches" 0 "" set ack 7 --on "$address"
	refuses "the holder is killed under a wait" 3 "was revoked" \
		wait job --on "$address" --ge 99 --timeout 60s
	gives "import of what another machine has ended" 3 "" import "$blob"
	exit $failed
fi

blob=$(syncevent export job --on "$address" 2>>"$log")
[ ${#blob} -eq 112 ]
result $? "export prints a blob"
carry "$blob"
# Until "job" is set, nobody changes "ack".
gives "with its value" 0 5 get ack --on "${address#0000:}"
syncevent watch ack --on "$address" -n 2 --timeout 60s >"$work/seen" 2>>"$log" &
watch=$!
eventually grep -q 5 "$work/seen"
result $? "watch shows the first as it is"
gives "set wakes the other" 0 "" set job 7 --on "$address"
wait $watch && [ "$(tail -n 1 "$work/seen" | sed 's/.* //')" -gt 5 ]
result $? "watch sees changes, and prints them"
gives "wait for the last" 0 7 wait ack --on "$address" --eq 7 --timeout 60s
gives "the sum" 0 8 get job --on "$address"
refuses "make it again" 1 "already" create job --on "$address"
refuses "no such event" 1 "there is no event 'none' on" get none --on "$address"
refuses "no such device" 1 "syncevent peers" get job --on 0000:00:1f.7
refuses "too much payload" 1 "no more room" create big --on "$address" --payload 99999999
refuses "too long a name" 1 "1 to 63 bytes" get "$(printf 'n%.0s' $(seq 64))" --on "$address"
refuses "--on is needed" 2 "--on is missing" export job
gives "import tells what it is" 0 "value 8, rights read, update, home side 0, payload 8192 bytes" \
	import "$blob"
echo "$blob" | syncevent import - --json >"$work/out" 2>>"$log"
[ "$(cat "$work/out")" = '{"value":8,"update":true,"home":0,"payload":8192}' ]
result $? "as JSON, of stdin"
blob=$(syncevent export job --read-only --on "$address" 2>>"$log")
gives "with fewer rights" 0 "value 8, rights read, home side 0, payload 8192 bytes" import "$blob"
refuses "a damaged blob" 1 "no blob" import "00${blob#??}"
# The other machine waits for it to end.
eventually sh -c "[ \$(syncevent peers --json | grep -c '\"alive\"') = 1 ]"
kill $holder
wait $holder 2>/dev/null
holder=
refuses "it ended with its holder" 1 "there is no event" get job --on "$address"
gives "import of what has ended" 3 "*" import "$blob"
exit $failed
