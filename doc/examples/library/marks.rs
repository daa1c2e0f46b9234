// SPDX-License-Identifier: BSD-2-Clause
//! Marks in Rust, which end with their scope: rustc -O -l hwpmc marks.rs
use std::ffi::{CStr, CString};
use std::os::raw::c_char;

#[link(name = "hwpmc")]
extern "C" {
    fn hwpmc_mark_begin(name: *const c_char);
    fn hwpmc_mark_end(name: *const c_char);
}

struct Mark<'a>(&'a CStr);

impl<'a> Mark<'a> {
    fn new(name: &'a CStr) -> Mark<'a> {
        unsafe { hwpmc_mark_begin(name.as_ptr()) };
        Mark(name)
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        unsafe { hwpmc_mark_end(self.0.as_ptr()) }
    }
}

fn main() {
    let name = CString::new("work").unwrap();
    let mut sum = 0u64;
    for _ in 0..100 {
        let _mark = Mark::new(&name);
        sum += (0..1000u64).map(|i| unsafe { std::ptr::read_volatile(&i) }).sum::<u64>();
    }
    println!("sum {}", sum);
}
