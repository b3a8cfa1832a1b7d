//! The slots of the kernel's packets while they are on the links: the simulator's packets carry the number of
//! the slot.
//!
//! There is one run in a process, and the queues of the kernel need the packets too, so there is one table
//! per process.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A packet of the kernel: the address of its buffer.
pub type Handle = usize;

/// A packet on a link, and the buffer that its sender is charged for.
#[derive(Clone, Copy)]
pub struct Slot {
    /// The packet.
    pub handle: Handle,
    /// The buffer that its sender is charged for until the packet has left its host; 0 if there is none.
    pub held: Handle,
}

/// The packets on the links; free slots are used again.
struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

static SLOTS: Mutex<Slots> = Mutex::new(Slots { slots: Vec::new(), free: Vec::new() });

fn all() -> MutexGuard<'static, Slots> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a packet on the links; returns its slot.
#[must_use]
pub fn insert(handle: Handle, held: Handle) -> u32 {
    let mut all = all();
    let new = Slot { handle, held };
    if let Some(slot) = all.free.pop() {
        all.slots[slot as usize] = new;
        return slot;
    }
    all.slots.push(new);
    (all.slots.len() - 1) as u32
}

/// The packet in a slot.
#[must_use]
pub fn handle(slot: u32) -> Handle {
    all().slots[slot as usize].handle
}

/// The packet has left its host; returns the buffer that its sender was charged for.
#[must_use]
pub fn release(slot: u32) -> Handle {
    std::mem::take(&mut all().slots[slot as usize].held)
}

/// The packet has left the links: frees its slot.
#[must_use]
pub fn take(slot: u32) -> Slot {
    let mut all = all();
    all.free.push(slot);
    all.slots[slot as usize]
}
