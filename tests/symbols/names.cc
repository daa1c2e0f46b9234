/* SPDX-License-Identifier: BSD-2-Clause */
/* names.cc - names as C++ and Rust give them; those of Rust by hand. */
namespace shapes {

template <typename T> struct box {
	__attribute__((noinline)) T area(T a, T b);
};

template <typename T> T box<T>::area(T a, T b)
{
	__asm__ volatile("");
	return a * b;
}

template struct box<int>;

}

extern "C" {

__attribute__((noinline)) void
_RNvCsabc_7mycrate3foo(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void
_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE(void)
{
	__asm__ volatile("");
}

}

int main()
{
	shapes::box<int> b;

	_RNvCsabc_7mycrate3foo();
	_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE();
	return b.area(2, 3);
}
