//! A bounded graph over a catalog, for browsing.
