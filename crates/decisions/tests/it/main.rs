//! What decision memory finds, and how records come in and out.

mod finding;
mod records;
