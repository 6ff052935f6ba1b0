//! What masking hides and what it leaves, on labelled sets.

mod secrets;
