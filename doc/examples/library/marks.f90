! SPDX-License-Identifier: BSD-2-Clause
! Marks in Fortran: gfortran -O2 marks.f90 -lhwpmc -o marks
program marks
  use, intrinsic :: iso_c_binding, only: c_char, c_null_char
  implicit none

  interface
    subroutine hwpmc_mark_begin(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine hwpmc_mark_end(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface

  integer :: i, j
  double precision :: total

  total = 0
  do i = 1, 100
    call hwpmc_mark_begin("work" // c_null_char)
    do j = 1, 1000
      total = total + sqrt(dble(j))
    end do
    call hwpmc_mark_end("work" // c_null_char)
  end do
  print *, total
end program
