//! Rounding and figures.
