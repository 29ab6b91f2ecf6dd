# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# TAP for shell tests, which source it. Set $log to a file: its end explains a failure.
number=0 failed=0
result() {	# STATUS DESCRIPTION
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
		return
	fi
	failed=1
	echo "not ok $number - $2"
	tail -n 60 "$log" | sed 's/^/# /'
}

skip() {	# DESCRIPTION REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}
