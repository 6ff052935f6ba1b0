//! Runs processes: one line per step with its time, output in a log file, the end of the log on failure.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};

/// A step shorter than this prints one line, when it is over.
const QUIET_FOR: Duration = Duration::from_secs(2);
/// A step longer than this says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(60);
const TAIL_LINES: usize = 100;

static TO_STDERR: AtomicBool = AtomicBool::new(false);

/// Sends progress to stderr, for commands whose stdout is data.
pub fn progress_to_stderr() {
    TO_STDERR.store(true, Ordering::Relaxed);
}

/// Prints one line of progress.
pub fn say(line: &str) {
    if TO_STDERR.load(Ordering::Relaxed) {
        eprintln!("{line}");
    } else {
        println!("{line}");
        // A pipe would otherwise hold the line back for minutes. Nobody to read it is not an error.
        let _ = std::io::stdout().flush();
    }
}

/// Says that a step goes on, until the channel is closed.
fn tell_of(label: &str, over: &Receiver<()>) {
    let started = Instant::now();
    let mut pause = QUIET_FOR;
    while over.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let is_first = pause == QUIET_FOR;
        let running = if is_first { String::new() } else { format!(" running, {}", show_time(started.elapsed())) };
        say(&format!("==> {label} ...{running}"));
        pause = ALIVE_EVERY;
    }
}

/// `41s`, `3m10s`; below ten seconds with one decimal.
pub fn show_time(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 10 {
        format!("{:.1}s", time.as_secs_f64())
    } else if seconds < 60 {
        format!("{seconds}s")
    } else {
        format!("{}m{:02}s", seconds / 60, seconds % 60)
    }
}

/// What a finished process left.
pub struct Finished {
    /// Whether it exited with 0.
    pub success: bool,
    /// Its stdout and stderr, in the order written.
    pub output: String,
    /// How long it ran.
    pub time: Duration,
    label: String,
    log: PathBuf,
    shown: String,
}

impl Finished {
    /// The failure of this process, with the end of what of its output tells most.
    pub fn failure(&self, telling: &str) -> Failure {
        let lines: Vec<&str> = telling.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        Failure::new(format!("{} failed: {}", self.label, self.shown))
            .hint(format!("full output: {}", self.log.display()))
            .log_tail(tail)
    }
}

/// Runs a command as a step with its output in `target/logs/<log_name>.log`, whatever its exit status.
pub fn capture(dirs: &Dirs, label: &str, log_name: &str, command: &mut Command) -> Outcome<Finished> {
    let logs = dirs.logs();
    fs::create_dir_all(&logs).context(|| format!("cannot create {}", logs.display()))?;
    let log = logs.join(format!("{log_name}.log"));
    let file = File::create(&log).context(|| format!("cannot write {}", log.display()))?;
    let copy = file.try_clone().context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stdout(file).stderr(copy);
    let started = Instant::now();
    let (running, over) = mpsc::channel();
    let status = thread::scope(|scope| {
        scope.spawn(move || tell_of(label, &over));
        let status = command.status();
        drop(running);
        status
    });
    let time = started.elapsed();
    let success = status.map_err(|error| cannot_start(command, &error))?.success();
    say(&format!("==> {label} ... {}{}", show_time(time), if success { "" } else { " (failed)" }));
    let output = fs::read(&log).context(|| format!("cannot read {}", log.display()))?;
    let output = String::from_utf8_lossy(&output).into_owned();
    Ok(Finished { success, output, time, label: label.to_owned(), log, shown: shown(command) })
}

/// Runs a command as a step that must succeed and returns its output.
pub fn step(dirs: &Dirs, label: &str, log_name: &str, command: &mut Command) -> Outcome<String> {
    let finished = capture(dirs, label, log_name, command)?;
    if finished.success { Ok(finished.output) } else { Err(finished.failure(&finished.output)) }
}

/// Runs a command on the caller's terminal and returns its exit code.
pub fn attached(command: &mut Command) -> Outcome<u8> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    Ok(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1)))
}

/// The first line a program prints when asked, or nothing when it cannot be run.
pub fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

/// The cargo that runs this program, without the variables it set for this program alone.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_this_package(&mut command);
    command
}

/// Removes what cargo tells a program it runs: it would otherwise speak of xtask to other packages' builds.
pub fn forget_this_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        // Writing to a String cannot fail.
        let _ = write!(text, " {}", OsStr::to_string_lossy(arg));
    }
    text
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    let program = command.get_program().to_string_lossy();
    if error.kind() == ErrorKind::NotFound {
        let failure = Failure::new(format!("'{program}' is not installed"));
        match program.as_ref() {
            "node" | "npm" => failure.hint("install Node.js 20.19 or newer (https://nodejs.org)"),
            "bash" => failure.hint("install bash and put it on PATH"),
            _ => failure,
        }
    } else {
        Failure::new(format!("cannot start '{program}': {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::show_time;
    use std::time::Duration;

    #[test]
    fn times_read_well() {
        for (millis, shown) in
            [(40, "0.0s"), (9_940, "9.9s"), (12_000, "12s"), (190_000, "3m10s"), (3_605_000, "60m05s")]
        {
            assert_eq!(show_time(Duration::from_millis(millis)), shown);
        }
    }
}
