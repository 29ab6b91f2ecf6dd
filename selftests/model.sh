#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The model of the wake protocol holds, and its broken variants are refuted.
if ! command -v spin >/dev/null; then
	echo "1..0 # SKIP spin is not installed"
	exit 0
fi
exec "${abs_top_srcdir:?}/selftests/model/run"
