/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/ioctl.h>
