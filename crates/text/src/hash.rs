//! Hashing of bytes. But for [`sha256_hex`]: fast, the same on every platform, and no protection against forgery.

use sha2::{Digest as _, Sha256};

const LANES: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

/// A hash being made of several parts; the length of each part counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hash([u64; 2]);

impl Default for Hash {
    fn default() -> Self {
        Self([LANES[1], LANES[0]])
    }
}

impl Hash {
    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        // No loop: where code is compiled for size it would stay one.
        let [a, b] = self.0;
        self.0 = [mix(a ^ number, LANES[0]), mix(b ^ number, LANES[1])];
    }

    /// Adds bytes and their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.number(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.number(u64::from_le_bytes(last));
    }

    /// Returns what [`Self::from_state`] goes on from.
    pub fn state(self) -> [u64; 2] {
        self.0
    }

    /// Goes on where another hash was.
    pub fn from_state(state: [u64; 2]) -> Self {
        Self(state)
    }

    /// Returns the hash of everything added.
    pub fn value(self) -> [u64; 2] {
        let [a, b] = self.0;
        [mix(a ^ b.rotate_left(32), LANES[0]), mix(b ^ a.rotate_left(23), LANES[1])]
    }
}

#[inline]
const fn mix(state: u64, lane: u64) -> u64 {
    // One lane's constant is odd, so no information is lost; the shift brings the high bits down.
    let product = state.wrapping_mul(lane);
    product ^ (product >> 29)
}

/// Returns the hash of one text for a table, with half the work.
pub fn of_text(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut state = LANES[1] ^ text.len() as u64;
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word), LANES[0]).rotate_left(32);
    }
    let mut last = 0;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    of_number(state ^ last)
}

/// Returns the hash of one number for a table.
pub const fn of_number(number: u64) -> u64 {
    mix(mix(number, LANES[0]).rotate_left(32), LANES[1])
}

/// Returns the SHA-256 of a text, which does protect against forgery, in lower-case hexadecimal.
///
/// ```
/// use contextweaver_text::hash::sha256_hex;
///
/// assert!(sha256_hex("").starts_with("e3b0c44298fc1c14"));
/// ```
pub fn sha256_hex(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Writes bytes, such as those of a digest, in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(if value < 10 { b'0' + value } else { b'a' + value - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_their_lengths_count() {
        let of = |parts: &[&str]| {
            let mut hash = Hash::default();
            for part in parts {
                hash.bytes(part.as_bytes());
            }
            hash.value()
        };
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        let all = [
            of(&[]),
            of(&[""]),
            of(&["", ""]),
            of(&["abc"]),
            of(&["ab", "c"]),
            of(&["a", "bc"]),
            of(&["abc\0"]),
            of(&["12345678"]),
            of(&["12345678\0"]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other[0] != one[0] && other[1] != one[1]), "{at}");
        }
    }

    #[test]
    fn values_never_change() {
        // Snapshots hold them.
        let mut hash = Hash::default();
        hash.bytes(b"contextweaver");
        assert_eq!(hash.value()[0], 3_809_437_498_498_613_022);
    }
}
