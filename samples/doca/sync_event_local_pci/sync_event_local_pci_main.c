// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#include "../sync_event_common.h"

int main(int argc, char **argv)
{
	return sync_event_main(argc, argv, "doca_sync_event_local_pci", sync_event_local_pci);
}
