/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot.h - three functions that take 60, 30 and 10 percent of each round of 3,000
 * instructions and a dozen, in whichever image includes it, kernel or user. Their
 * frame's address is a mere reason to have a frame: compilers leave it out where
 * the stack is not used, whatever they are told, and the caller is then unknown.
 */
#ifndef HOT_H
#define HOT_H

#define HOT(name, rounds)						\
__attribute__((__noinline__)) void name(void)				\
{									\
	unsigned int n = rounds;					\
									\
	asm volatile("1: addq $1, %%rdx; decl %0; jnz 1b"		\
		     : "+r"(n) : "r"(__builtin_frame_address(0))	\
		     : "rdx", "cc");					\
}

#define HOT_SIXTY	600
#define HOT_THIRTY	300
#define HOT_TEN		100

#define HOT_THREE(prefix)						\
	void prefix##_sixty(void);					\
	void prefix##_thirty(void);					\
	void prefix##_ten(void);					\
	HOT(prefix##_sixty, HOT_SIXTY)					\
	HOT(prefix##_thirty, HOT_THIRTY)				\
	HOT(prefix##_ten, HOT_TEN)

#endif
