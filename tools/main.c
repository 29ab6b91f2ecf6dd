// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* main.c - the rest is a library for the sake of tests and fuzzers */
#include "tool.h"

int main(int argc, char **argv)
{
	return syncevent_tool_main(argc, argv);
}
