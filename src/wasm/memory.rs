//! How the memory of a module grows.

/// Lets the memory grow once by what an object is going to need, instead of a thousand times by a little: a runtime may
/// collect garbage whenever the memory grows. Where there is that much room already, nothing happens.
pub fn make_room(bytes: usize) {
    let mut room: Vec<u8> = Vec::new();
    // Without so much memory the object may still fit.
    let _ = room.try_reserve_exact(bytes);
    std::hint::black_box(&room);
}
