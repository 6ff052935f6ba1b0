//! Notes a thought.
