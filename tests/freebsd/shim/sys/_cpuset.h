/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/cpuset.h>
