/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_linger.h - files whose release is slow: connections with SO_LINGER whose peer does
 * not read.
 */
#ifndef KMOD_LINGER_H
#define KMOD_LINGER_H

#define LINGER_S	30

/* For main(): connections of this machine to itself work. */
void linger_setup(void);
/* A connection whose release waits until its peer has read all, LINGER_S at most. */
int linger_connect(void);

#endif
