//! Replays every seed, in a time that a normal run can spare.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::path::{Path, PathBuf};

use contextweaver_fuzz::{TARGETS, target};

fn seeds(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_seed_of_every_target_holds() {
    for (name, run) in TARGETS {
        let seeds = seeds(name);
        assert!(seeds.len() >= 3, "{name} has {} seeds", seeds.len());
        for seed in seeds {
            // Names the file in the output of a failure.
            println!("{}", seed.display());
            let bytes = std::fs::read(&seed).unwrap();
            run(&bytes);
            // A seed that is cut anywhere must hold as well.
            for part in 1..8 {
                run(&bytes[..bytes.len() * part / 8]);
            }
        }
    }
}

#[test]
fn every_folder_of_seeds_has_its_target() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(target(&name).is_some(), "{name} is no target");
    }
}
