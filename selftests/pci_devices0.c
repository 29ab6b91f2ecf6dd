// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The cases of pci_devices.c, suffered by side 0, which formats the region. */
#define VICTIM	0U

#include "pci_devices.c"
