//! The one command list of the project: `cargo xtask <command>`.
//!
//! Each command sets up what it needs on a fresh machine (WebAssembly target, wasm-bindgen, npm packages, browser),
//! says what it does and how long it took, and does nothing twice.

mod cmd;
mod dirs;
mod failure;
mod modules;
mod package;
mod report;
mod run;
mod setup;
mod size;
mod stamp;

use std::process::ExitCode;

use failure::{Failure, Outcome};

const HELP: &str = "\
usage: cargo xtask <command>

  demo                           run the main job on a recorded session
  test                           run every test this machine can run
  test --quick                   the inner loop: native tests with fewer random cases, and the package in Node
  test --long                    every test, with ten times as many random cases (20,000), and 100,000 changes of each object
  check [--release]              formatting, lints, strict types, package linters, architecture rules; with --release also that
                                 release.toml says all
  release --dry-run              build, pack, check, and write the bill of materials and the statement of provenance
  build [--www | --quick]        build the npm package into pkg/ and print its sizes; with --www also the page, to be
                                 put on any static host; with --quick into target/pkg-quick, in the shortest time, for tests alone
  serve [--port N] [--no-build]  serve the page on localhost
  docs [--base /folder/]         build the site of the documents, with search and the page, into target/docs, to be put on
                                 any static host, at the root or in that folder
  fuzz [target ...] [--minutes N]
                                 look for bytes that break a promise, a minute for each target; targets are folders of
                                 fuzz/seeds, all when none is named
  bench <name> [argument ...]    measure the built package with a script of benches, which says at its top what it takes:
                                 build, context, cost, firewall, gateway, quality, routing, tokens and others

CI=true makes a missing browser or runtime a failure instead of a skip.
CHROME names a browser to use. Logs are written to target/logs.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Outcome<ExitCode> {
    let (command, rest) = args.split_first().map_or(("help", args), |(first, rest)| (first.as_str(), rest));
    match command {
        "build" => cmd::build::main(rest),
        "test" => cmd::test::main(rest),
        "check" => cmd::check::main(rest),
        "release" => cmd::release::main(rest),
        "demo" => cmd::demo::main(rest),
        "serve" => cmd::serve::main(rest),
        "docs" => cmd::docs::main(rest),
        "fuzz" => cmd::fuzz::main(rest),
        "bench" => cmd::bench::main(rest),
        "help" | "-h" | "--help" => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Failure::new(format!("unknown command '{other}'\n\n{HELP}"))),
    }
}

/// Rejects arguments of a command that takes none.
fn no_arguments(command: &str, args: &[String]) -> Outcome<()> {
    match args.first() {
        None => Ok(()),
        Some(arg) => Err(Failure::new(format!("cargo xtask {command} takes no argument '{arg}'"))),
    }
}
