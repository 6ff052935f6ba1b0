//! Vectors by slot, and how near they are to another.

/// Slots of one block. A query is compared with a block at a time, dimension by dimension, and dimensions that the query
/// has nothing in cost nothing: most of those of a short text.
const LANES: usize = 64;
/// How far from one the length of a vector may be to be taken as it is, so that snapshots come back the same.
const UNIT_SLACK: f64 = 1e-5;

/// Vectors of one length, by slot, in blocks that a scan goes through in order of memory.
#[derive(Debug, Clone, Default)]
pub struct VectorTable {
    dimensions: usize,
    /// By block, then by dimension, then by slot in the block.
    values: Vec<f32>,
    present: Vec<bool>,
}

impl VectorTable {
    /// Returns the length of the vectors, 0 while there is none.
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Tells whether a vector fits in: any does while there is none.
    pub const fn fits(&self, vector: &[f32]) -> bool {
        !vector.is_empty() && (self.dimensions == 0 || self.dimensions == vector.len())
    }

    fn place(&self, slot: usize, dimension: usize) -> usize {
        (slot / LANES * self.dimensions + dimension) * LANES + slot % LANES
    }

    /// Sets the vector of a slot, made one long; one of another length than the others is ignored.
    pub fn set(&mut self, slot: u32, vector: &[f32]) {
        if !self.fits(vector) {
            return;
        }
        self.dimensions = vector.len();
        let slot = slot as usize;
        if self.present.len() <= slot {
            self.present.resize(slot + 1, false);
            self.values.resize((slot / LANES + 1) * LANES * self.dimensions, 0.0);
        }
        self.present[slot] = true;
        for (dimension, value) in unit(vector).into_iter().enumerate() {
            let place = self.place(slot, dimension);
            self.values[place] = value;
        }
    }

    /// Removes the vector of a slot.
    pub fn remove(&mut self, slot: u32) {
        if let Some(present) = self.present.get_mut(slot as usize) {
            *present = false;
        }
    }

    /// Returns the vector of a slot.
    pub fn get(&self, slot: u32) -> Option<Vec<f32>> {
        let slot = slot as usize;
        let present = self.present.get(slot).copied().unwrap_or_default();
        present.then(|| (0..self.dimensions).map(|dimension| self.values[self.place(slot, dimension)]).collect())
    }

    /// Returns how near every slot is to a query, from -1 to 1 but for rounding; slots without a vector are left out.
    pub fn nearness(&self, query: &[f32]) -> Vec<(u32, f64)> {
        let mut out = Vec::with_capacity(self.present.len());
        if query.len() != self.dimensions || self.dimensions == 0 {
            return out;
        }
        let query = unit(query);
        let filled: Vec<(usize, f32)> = query.into_iter().enumerate().filter(|(_, value)| *value != 0.0).collect();
        for (block, values) in self.values.chunks_exact(LANES * self.dimensions).enumerate() {
            let mut sums = [0.0_f32; LANES];
            for (dimension, weight) in &filled {
                let column = &values[dimension * LANES..(dimension + 1) * LANES];
                for (sum, value) in sums.iter_mut().zip(column) {
                    *sum += weight * value;
                }
            }
            let slots = (block * LANES..).zip(sums);
            let held = slots.filter(|(slot, _)| self.present.get(*slot).copied().unwrap_or_default());
            out.extend(held.map(|(slot, sum)| (slot as u32, f64::from(sum))));
        }
        out
    }
}

/// Returns the vector with length one; the zero vector and what is not finite become the zero vector.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    let length = libm::sqrt(vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum());
    if (length - 1.0).abs() < UNIT_SLACK {
        return vector.to_vec();
    }
    let scaled =
        |value: &f32| if length > 0.0 && length.is_finite() { (f64::from(*value) / length) as f32 } else { 0.0 };
    vector.iter().map(scaled).collect()
}

/// Tells whether a vector has nothing in any dimension.
pub fn is_zero(vector: &[f32]) -> bool {
    vector.iter().all(|value| *value == 0.0)
}

/// Returns the cosine distance, from 0 to 2; 1 for vectors of different lengths and for the zero vector.
pub fn cosine_distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return 1.0;
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = libm::sqrt(product(a, a)) * libm::sqrt(product(b, b));
    let distance = 1.0 - product(a, b) / lengths;
    // Identical vectors may come out a little below zero.
    if lengths > 0.0 && distance.is_finite() { distance.clamp(0.0, 2.0) } else { 1.0 }
}

/// Returns the cosine distance of two stored vectors.
pub fn distance(a: &[f32], b: &[f32]) -> f64 {
    let wide = |vector: &[f32]| -> Vec<f64> { vector.iter().map(|value| f64::from(*value)).collect() };
    cosine_distance(&wide(a), &wide(b))
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what is exact is compared exactly")]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_angles() {
        let cases: &[(&[f64], &[f64], f64)] = &[
            (&[1.0, 0.0], &[1.0, 0.0], 0.0),
            (&[1.0, 0.0], &[0.0, 1.0], 1.0),
            (&[1.0, 0.0], &[-3.0, 0.0], 2.0),
            (&[0.0, 0.0], &[1.0, 0.0], 1.0),
            (&[], &[], 1.0),
            (&[1.0, 2.0, 3.0], &[1.0, 2.0], 1.0),
            (&[1e300, 1e300], &[1.0, 1.0], 1.0),
        ];
        for (a, b, expected) in cases {
            assert_eq!(cosine_distance(a, b), *expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn nearness_is_that_of_each_vector_alone() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 40) % 9) as f32 - 4.0
        };
        let mut vectors = VectorTable::default();
        assert_eq!(vectors.nearness(&[1.0]), []);
        let lists: Vec<Vec<f32>> = (0..150).map(|_| (0..7).map(|_| next()).collect()).collect();
        for (slot, list) in lists.iter().enumerate().rev() {
            vectors.set(slot as u32, list);
        }
        vectors.remove(3);
        vectors.set(4, &[1.0]);
        let query = [1.0, 0.0, 0.0, -2.0, 0.5, 0.0, 3.0];
        let near = vectors.nearness(&query);
        assert_eq!(near.len(), 149);
        for (slot, value) in near {
            assert!((1.0 - value - distance(&query, &lists[slot as usize])).abs() < 1e-5);
            assert_eq!(vectors.get(slot), Some(unit(&lists[slot as usize])));
        }
        assert_eq!((vectors.get(3), vectors.nearness(&[1.0]).len()), (None, 0));
    }

    #[test]
    fn unit_vectors_stay_as_they_are() {
        let once = unit(&[0.3, -7.0, 1e-20, 3e38]);
        assert_eq!(unit(&once), once);
        assert_eq!(unit(&[f32::NAN, 1.0]), [0.0, 0.0]);
        assert_eq!(unit(&[f32::INFINITY, 1.0]), [0.0, 0.0]);
        assert!(is_zero(&unit(&[0.0])));
    }
}
