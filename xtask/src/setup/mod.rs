//! What a fresh machine lacks: each part looks first and installs only what is missing.

pub mod browser;
pub mod npm;
pub mod wasm_bindgen;
pub mod wasm_target;

use std::env;
use std::sync::Mutex;

/// Two apt-get runs at once would fail on its lock, so parts that may call it hold this.
static APT: Mutex<()> = Mutex::new(());

/// Whether something missing is a failure: true on a CI machine, which must run everything.
pub fn strict() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
