/* SPDX-License-Identifier: BSD-2-Clause */
/* kvm.h - the list of processes, from /proc. */
#ifndef HWPMC_FREEBSD_KVM_H
#define HWPMC_FREEBSD_KVM_H

#include <sys/user.h>

typedef struct kvm kvm_t;

#define KERN_PROC_PROC	8

#ifdef __cplusplus
extern "C" {
#endif
/* NULL: why not is in errbuf, of _POSIX2_LINE_MAX bytes. */
kvm_t *kvm_openfiles(const char *kernel, const char *core, const char *swap, int flags,
		     char *errbuf);
/* All of them; NULL, and kvm_geterr() says why. They live until kvm_close(). */
struct kinfo_proc *kvm_getprocs(kvm_t *kd, int op, int arg, int *count);
char *kvm_geterr(kvm_t *kd);
int kvm_close(kvm_t *kd);
#ifdef __cplusplus
}
#endif

#endif /* HWPMC_FREEBSD_KVM_H */
