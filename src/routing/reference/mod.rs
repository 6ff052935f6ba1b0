//! Scorers, clusters and the tree of the Python reference, for compatibility.
