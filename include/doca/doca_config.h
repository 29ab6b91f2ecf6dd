/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* doca_config.h - how a program is built; see doca_build_config.h */
#ifndef DOCA_CONFIG_H
#define DOCA_CONFIG_H

#include <doca_build_config.h>

#endif /* DOCA_CONFIG_H */
