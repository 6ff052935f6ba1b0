//! `cargo xtask serve`: the page on localhost, by the server of esbuild.

use std::process::{Command, ExitCode, Stdio};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::modules::Variant;
use crate::package;
use crate::run::say;

const DEFAULT_PORT: u16 = 8787;

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let (words, flags): (Vec<&str>, Vec<&str>) = args.iter().map(String::as_str).partition(|arg| *arg != "--no-build");
    let port = match words[..] {
        [] => Some(DEFAULT_PORT),
        ["--port", port] => port.parse::<u16>().ok(),
        _ => None,
    };
    let port = port.ok_or_else(|| {
        Failure::new(format!("cargo xtask serve does not take '{}'", args.join(" ")))
            .hint("usage: cargo xtask serve [--port N] [--no-build]")
    })?;
    let dirs = Dirs::find()?;
    let site = if flags.is_empty() {
        build::build(&dirs, Variant::Release)?;
        package::page(&dirs)
    } else {
        package::bundle_page(&dirs)?
    };
    say(&format!("serving http://localhost:{port}/ (stop with Ctrl-C)"));
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.arg(format!("--servedir={}", site.display())).arg(format!("--serve=127.0.0.1:{port}"));
    // It serves as long as its input is open, and that of a job in the background is not.
    let failed = || "cannot start esbuild".to_owned();
    let mut server = command.arg("--log-level=warning").stdin(Stdio::piped()).spawn().context(failed)?;
    let _input = server.stdin.take();
    Ok(if server.wait().context(failed)?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
