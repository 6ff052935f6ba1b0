//! From a query to a short list, with a reason for every place.
