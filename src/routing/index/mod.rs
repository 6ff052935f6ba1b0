//! An inverted index over the fields of tools: the default engine.
