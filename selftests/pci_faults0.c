// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The cases of pci_faults.c, suffered by side 0: the one that formats the region, and
 * finds it formatted when it is back.
 */
#define VICTIM	0U

#include "pci_faults.c"
