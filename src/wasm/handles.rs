//! What exports over handles share.

use std::cell::{Cell, RefCell};
use std::thread::LocalKey;

use super::answer::{Answer, thrown};
use super::memory;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};

/// Objects of one kind by handle; handles are never reused, so a stale one cannot reach somebody else's object.
pub struct Handles<T> {
    /// What such an object is called in errors.
    kind: &'static str,
    objects: SortedMap<u32, T>,
    last: u32,
}

/// Where the objects of one kind are.
pub type Slab<T> = LocalKey<RefCell<Handles<T>>>;

impl<T> Handles<T> {
    /// Makes the place for objects of a kind.
    pub fn of(kind: &'static str) -> RefCell<Self> {
        RefCell::new(Self { kind, objects: SortedMap::new(), last: 0 })
    }
}

const PAGE_BYTES: usize = 64 * 1024;

thread_local! {
    /// Pages of the memory when it was last looked at.
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

/// Lets the memory grow by another eighth after a call in which it grew: what grows with every call then makes it grow
/// thirty times from 2 to 64 MiB, and not a thousand times.
fn keep_ahead() {
    let pages = || core::arch::wasm32::memory_size(0);
    if pages() > PAGES.get() {
        memory::make_room(pages() * PAGE_BYTES / 8);
        PAGES.set(pages());
    }
}

/// Keeps a new object and returns its handle.
pub fn add<T>(slab: &'static Slab<T>, object: Result<T>) -> Answer<u32> {
    let object = object.map_err(|error| thrown(&error))?;
    slab.with_borrow_mut(|slab| {
        slab.last += 1;
        slab.objects.insert(slab.last, object);
        Ok(slab.last)
    })
}

/// Runs an operation on an object.
pub fn with<T, R>(slab: &'static Slab<T>, handle: u32, operation: impl FnOnce(&mut T) -> Result<R>) -> Answer<R> {
    let answer = slab.with_borrow_mut(|slab| match slab.objects.get_mut(&handle) {
        Some(object) => operation(object),
        None => Err(Error::new(ErrorCode::Disposed, format!("the {} was freed", slab.kind))),
    });
    keep_ahead();
    answer.map_err(|error| thrown(&error))
}

/// Drops an object; a second time does nothing.
pub fn free<T>(slab: &'static Slab<T>, handle: u32) {
    slab.with_borrow_mut(|slab| slab.objects.remove(&handle));
}
