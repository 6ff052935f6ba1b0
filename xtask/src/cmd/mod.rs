//! One file per command.

pub mod bench;
pub mod build;
pub mod check;
pub mod demo;
pub mod docs;
pub mod fuzz;
pub mod package_tests;
pub mod release;
pub mod serve;
pub mod test;
