//! Vectors without a model: words, pairs of words and pieces of words, hashed into a fixed number of dimensions.

use crate::terms::for_each_term;
use contextweaver_text::hash::of_number;

/// Name of the built-in vectors in snapshots.
pub const MODEL: &str = "hashing-256";
/// Length of the vectors that the store makes itself.
pub const DIMENSIONS: usize = 256;
/// Features of one text that are counted; what is longer is known by its beginning.
const MAX_FEATURES: usize = 20_000;

/// The hash FNV-1a in 64 bits.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    /// The first byte keeps the kinds of features apart.
    const fn new(kind: u8) -> Self {
        Self(0xcbf2_9ce4_8422_2325).byte(kind)
    }

    const fn byte(self, byte: u8) -> Self {
        Self((self.0 ^ byte as u64).wrapping_mul(0x100_0000_01b3))
    }

    fn text(self, text: &str) -> Self {
        text.bytes().fold(self, Self::byte)
    }
}

/// Returns the vector of a text, of length one; a text without words has the zero vector.
///
/// The same text has the same bits everywhere.
pub fn embed(text: &str) -> Vec<f32> {
    let mut sums = [0.0_f64; DIMENSIONS];
    for (hash, count) in counted(&features(text)) {
        // FNV leaves the bits of short texts uneven.
        let mixed = of_number(hash);
        let sign = if mixed & 1 == 0 { 1.0 } else { -1.0 };
        sums[(mixed >> 56) as usize] += sign * libm::log1p(f64::from(count));
    }
    let length = libm::sqrt(sums.iter().map(|sum| sum * sum).sum());
    sums.iter().map(|sum| if length > 0.0 { (sum / length) as f32 } else { 0.0 }).collect()
}

fn features(text: &str) -> Vec<u64> {
    let mut out = Vec::new();
    let mut before: Option<Fnv> = None;
    let mut piece = [' '; 3];
    for_each_term(text, &mut |word| {
        if out.len() >= MAX_FEATURES {
            return;
        }
        out.push(Fnv::new(b'w').text(word).0);
        if let Some(pair) = before {
            out.push(pair.byte(b' ').text(word).0);
        }
        before = Some(Fnv::new(b'p').text(word));
        piece = [' '; 3];
        for (place, ch) in word.chars().chain([' ']).enumerate() {
            piece = [piece[1], piece[2], ch];
            // The first piece is the space before the word, and two letters of it.
            if place > 0 && out.len() < MAX_FEATURES {
                let hash = piece.iter().fold(Fnv::new(b'c'), |hash, ch| hash.text(ch.encode_utf8(&mut [0; 4])));
                out.push(hash.0);
            }
        }
    });
    out
}

/// Returns each distinct number with its count, in an order that depends on nothing but the numbers.
fn counted(numbers: &[u64]) -> Vec<(u64, u32)> {
    let mask = (numbers.len() * 2 + 1).next_power_of_two() - 1;
    let mut table = vec![(0_u64, 0_u32); mask + 1];
    for number in numbers {
        let mut place = *number as usize & mask;
        while table[place].1 > 0 && table[place].0 != *number {
            place = (place + 1) & mask;
        }
        table[place] = (*number, table[place].1 + 1);
    }
    table.retain(|(_, count)| *count > 0);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(a: &str, b: &str) -> f32 {
        embed(a).iter().zip(embed(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn vectors_have_length_one_or_none() {
        for text in ["a", "Use PostgreSQL", "日本語", "x y z x y z", &"word ".repeat(30_000)] {
            assert!((similarity(text, text) - 1.0).abs() < 1e-5, "{text}");
        }
        for text in ["", "!!!", " \n"] {
            assert!(embed(text).iter().all(|value| *value == 0.0), "{text}");
        }
    }

    #[test]
    fn likeness_follows_words_and_their_parts() {
        let query = "postgres connection pool";
        let near = similarity(query, "Use a pool of connections to PostgreSQL");
        let far = similarity(query, "Weekly retro with the design team");
        assert!(near > 0.25 && far < 0.15 && near > far + 0.2, "{near} {far}");
        assert!(similarity("Use Redis for sessions", "use redis for SESSIONS!") > 0.999);
    }

    #[test]
    fn vectors_never_change() {
        // Snapshots name the model, not the vectors.
        let vector = embed("Use PostgreSQL for the new service");
        let sum: f32 = vector.iter().enumerate().map(|(at, value)| value * at as f32).sum();
        assert_eq!(vector.iter().filter(|value| **value != 0.0).count(), 37);
        assert!((sum + 150.366_3).abs() < 1e-3, "{sum}");
    }
}
