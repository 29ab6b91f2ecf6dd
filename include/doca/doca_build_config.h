/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_build_config.h - for which side of PCI a program is built
 *
 * The DPU's side is chosen on the command line, -DDOCA_ARCH_DPU, on any processor;
 * else it is the host's.
 */
#ifndef DOCA_BUILD_CONFIG_H
#define DOCA_BUILD_CONFIG_H

#ifndef DOCA_ARCH_DPU
#ifndef DOCA_ARCH_HOST
#define DOCA_ARCH_HOST
#endif
#endif

#if defined(__x86_64__) && !defined(DOCA_ARCH_X86)
#define DOCA_ARCH_X86
#elif defined(__aarch64__) && !defined(DOCA_ARCH_ARM)
#define DOCA_ARCH_ARM
#endif

#endif /* DOCA_BUILD_CONFIG_H */
