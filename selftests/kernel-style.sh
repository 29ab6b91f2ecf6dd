#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The module is clean with the kernel's own tools: checkpatch --strict, gcc with
# W=1 and sparse.
set -u
top=${abs_top_srcdir:?}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
echo "1..2"

tools=$(SYNCEVENT_CACHE=${SYNCEVENT_CACHE:-} python3 -B "$top/selftests/vm/fetch" kselftest 2>"$out/fetch")
if [ -z "$tools" ]; then
	echo "ok 1 - checkpatch # SKIP no kernel source package: $(tail -n 1 "$out/fetch")"
else
	# compat.h is where kernel versions are looked at. The macros of trace events
	# are not laid out as functions are, in the kernel neither.
	(cd "$top" && for file in kmod/*.c kmod/*.h include/uapi/linux/*.h; do
		ignore=
		case $file in
		kmod/compat.h) ignore=LINUX_VERSION_CODE,CONSTANT_COMPARISON ;;
		kmod/trace.h) ignore=PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE ;;
		esac
		perl "$tools/checkpatch.pl" --no-tree --strict --terse --no-summary \
			${ignore:+--ignore $ignore} -f "$file"
	done) >"$out/checkpatch" 2>&1
	if [ -s "$out/checkpatch" ]; then
		echo "not ok 1 - checkpatch --strict"
		sed 's/^/# /' "$out/checkpatch"
	else
		echo "ok 1 - checkpatch --strict"
	fi
fi

if [ -z "${KERNELDIR:-}" ]; then
	echo "ok 2 - sparse # SKIP configured without a kernel build folder"
elif ! command -v sparse >/dev/null; then
	echo "ok 2 - sparse # SKIP sparse is not installed"
else
	MAKE=make "$top/scripts/build-kmod" "$KERNELDIR" "$out/kmod" C=2 W=1 modules >"$out/log" 2>&1
	status=$?
	if [ $status -ne 0 ] || grep -qE '(warning|error):' "$out/log"; then
		echo "not ok 2 - W=1 and sparse"
		grep -vE '^ +(CC|LD|MODPOST|CHECK|BTF) ' "$out/log" | sed 's/^/# /'
	else
		echo "ok 2 - W=1 and sparse"
	fi
fi
