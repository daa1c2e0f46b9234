/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * classes.h - the classes that machine.c probes, and capabilities that they share.
 */
#ifndef HWPMC_BACKENDS_CLASSES_H
#define HWPMC_BACKENDS_CLASSES_H

#include "backend.h"

extern const struct hwpmc_class_ops hwpmc_tsc_ops;
extern const struct hwpmc_class_ops hwpmc_iaf_ops;
extern const struct hwpmc_class_ops hwpmc_iap_ops;
extern const struct hwpmc_class_ops hwpmc_k8_ops;
extern const struct hwpmc_class_ops hwpmc_p4_ops;
extern const struct hwpmc_class_ops hwpmc_rapl_ops;
extern const struct hwpmc_class_ops hwpmc_aperf_ops;
extern const struct hwpmc_class_ops hwpmc_soft_ops;	/* soft/class.c */
extern const struct hwpmc_class_ops hwpmc_ibs_ops;
extern const struct hwpmc_class_ops hwpmc_test_ops;	/* soft/test.c */

/* Capabilities of a core counter with a full event select. */
#define HWPMC_CAPS_SELECT	(HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER |	\
				 HWPMC_CAP_SYSTEM | HWPMC_CAP_EDGE |	\
				 HWPMC_CAP_THRESHOLD | HWPMC_CAP_READ |	\
				 HWPMC_CAP_WRITE | HWPMC_CAP_INVERT |	\
				 HWPMC_CAP_QUALIFIER)

#endif /* HWPMC_BACKENDS_CLASSES_H */
