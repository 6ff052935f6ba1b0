//! What digests quote and slices cut out, held against what was planted.

mod digest;
mod digest_decode;
mod digest_score;
mod slices;
