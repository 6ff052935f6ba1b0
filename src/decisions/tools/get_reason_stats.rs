//! Which kinds of reasons lead to success.
