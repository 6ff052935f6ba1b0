//! What the text primitives are held to by others: other implementations, and sets kept outside the repository.

mod patterns;
mod secrets;
