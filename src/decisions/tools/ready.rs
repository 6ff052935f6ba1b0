//! What is due.
