// SPDX-License-Identifier: BSD-2-Clause
//! Count instructions of this program, without a binding: rustc -O -l hwpmc counter.rs
use std::ffi::{c_void, CStr, CString};
use std::os::raw::{c_char, c_int, c_uint};

const MODE_TC: c_uint = 3; // HWPMC_MODE_TC: count the attached processes

#[link(name = "hwpmc")]
extern "C" {
    fn hwpmc_open(h: *mut *mut c_void) -> c_int;
    fn hwpmc_close(h: *mut c_void);
    fn hwpmc_error(h: *mut c_void) -> *const c_char;
    fn hwpmc_open_counter(
        h: *mut c_void, spec: *const c_char, mode: c_uint, flags: u32, pid: c_int, count: u64,
        id: *mut u32,
    ) -> c_int;
    fn hwpmc_start(h: *mut c_void, id: u32) -> c_int;
    fn hwpmc_read(h: *mut c_void, id: u32, value: *mut u64) -> c_int;
}

struct Counter {
    handle: *mut c_void,
    id: u32,
}

// Any number of threads may use a handle.
unsafe impl Send for Counter {}
unsafe impl Sync for Counter {}

impl Counter {
    fn new(event: &str) -> Result<Counter, String> {
        let spec = CString::new(event).map_err(|e| e.to_string())?;
        let mut c = Counter { handle: std::ptr::null_mut(), id: 0 };
        let opened = unsafe { hwpmc_open(&mut c.handle) };
        c.check(opened)?;
        let counted = unsafe {
            hwpmc_open_counter(c.handle, spec.as_ptr(), MODE_TC, 0, 0, 0, &mut c.id)
        };
        c.check(counted)?;
        c.check(unsafe { hwpmc_start(c.handle, c.id) })?;
        Ok(c)
    }

    fn read(&self) -> Result<u64, String> {
        let mut value = 0;
        self.check(unsafe { hwpmc_read(self.handle, self.id, &mut value) })?;
        Ok(value)
    }

    fn check(&self, result: c_int) -> Result<(), String> {
        if result == 0 {
            return Ok(());
        }
        let text = unsafe { CStr::from_ptr(hwpmc_error(self.handle)) };
        Err(text.to_string_lossy().into_owned())
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        unsafe { hwpmc_close(self.handle) }
    }
}

fn main() -> Result<(), String> {
    let counter = Counter::new("instructions:u")?;
    let before = counter.read()?;
    let sum: u64 = (0..1000u64).map(|i| unsafe { std::ptr::read_volatile(&i) }).sum();
    let after = counter.read()?;
    println!("sum {}: {} instructions", sum, after - before);
    Ok(())
}
