// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Since 6.2: the type of a device names the node of a const device. */
#include <linux/device.h>

char *probe(const struct device *dev, umode_t *mode, kuid_t *uid, kgid_t *gid);
extern struct device_type type;

struct device_type type = { .devnode = probe };
