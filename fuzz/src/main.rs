//! All targets as one program for libFuzzer: `CONTEXTWEAVER_FUZZ_TARGET` names the one that it runs. Built and run by
//! `cargo xtask fuzz`.
#![no_main]

use std::sync::OnceLock;

use contextweaver_fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static CHOSEN: OnceLock<Target> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let run = CHOSEN.get_or_init(|| {
        let name = std::env::var("CONTEXTWEAVER_FUZZ_TARGET").unwrap_or_default();
        target(&name).unwrap_or_else(|| panic!("CONTEXTWEAVER_FUZZ_TARGET names no target: {name:?}"))
    });
    run(data);
});
