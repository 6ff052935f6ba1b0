//! How well confidence and outcomes agree.
