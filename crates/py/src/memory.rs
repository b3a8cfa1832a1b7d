//! Memory from mimalloc; if it has none left, the process ends with a one-line message and exit status 1.
//!
//! Rust itself would end it by a signal. A failed allocation cannot become an exception, because nothing
//! guarantees that half-done work can be left as it is.
//!
//! mimalloc asks the system for huge pages. With a thousand flows and more, each event touches other pages than the
//! one before, and with small ones it would look up more addresses.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;

#[global_allocator]
static MEMORY: Memory = Memory;

struct Memory;

unsafe extern "C" {
    /// Ends the process at once: exit handlers might ask for memory.
    safe fn _exit(status: i32) -> !;
}

unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        given(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        given(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        given(unsafe { MiMalloc.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { MiMalloc.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

#[cold]
fn end(size: usize) -> ! {
    let megabytes = size.div_ceil(1_000_000);
    // Standard error may be closed; there is no other place to report it.
    let _told = writeln!(
        std::io::stderr(),
        "error: not enough memory: the simulator needs {megabytes} MB more than it can have"
    );
    _exit(1)
}
