/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* device.h - /dev/hwpmc. */
#ifndef HWPMC_DEVICE_H
#define HWPMC_DEVICE_H

/* Before anything else of the load: 0, or an error that was printed. */
int hwpmc_device_params(void);
int hwpmc_device_init(void);
void hwpmc_device_exit(void);

#endif /* HWPMC_DEVICE_H */
