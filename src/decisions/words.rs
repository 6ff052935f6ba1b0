//! Words of texts in any language.
