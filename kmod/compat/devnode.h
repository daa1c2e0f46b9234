/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* devnode.h - the type of the device for which struct device_type names the node. */
#ifndef HWPMC_COMPAT_DEVNODE_H
#define HWPMC_COMPAT_DEVNODE_H

#include <linux/device.h>

#include "have.h"

#ifdef HAVE_DEVNODE_CONST
#define HWPMC_DEVNODE_DEVICE	const struct device
#else
#define HWPMC_DEVNODE_DEVICE	struct device
#endif

#endif /* HWPMC_COMPAT_DEVNODE_H */
