//! Ways to die, for the tests of the recovery path. Not in a published build.

use wasm_bindgen::prelude::wasm_bindgen;

/// Panics.
#[wasm_bindgen]
#[expect(clippy::panic, reason = "this is what the export is for")]
pub fn trap_panic() {
    panic!("a panic on request");
}

/// Overflows the stack.
#[wasm_bindgen]
#[allow(unconditional_recursion, reason = "this is what the export is for")]
pub fn trap_overflow(depth: u32) -> u32 {
    let frame = std::hint::black_box([depth; 256]);
    trap_overflow(depth.wrapping_add(1)).wrapping_add(frame[(depth % 256) as usize])
}

/// Exhausts the memory.
#[wasm_bindgen]
pub fn trap_exhaust() -> u32 {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(std::hint::black_box(Vec::with_capacity(256 << 20)));
        if kept.len() > 64 {
            return kept.len() as u32;
        }
    }
}
