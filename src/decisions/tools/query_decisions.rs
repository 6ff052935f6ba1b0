//! Finds decisions like a text.
