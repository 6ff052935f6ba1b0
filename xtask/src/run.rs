//! Runs processes: one line per step with its time, output in a log file, the end of the log on failure.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
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

/// A step that prints its name and, when it ends, its time.
pub struct Step {
    label: String,
    started: Instant,
    over: Option<Sender<()>>,
    ticker: Option<thread::JoinHandle<()>>,
}

impl Step {
    /// Begins the step.
    pub fn begin(label: impl Into<String>) -> Self {
        let label = label.into();
        let started = Instant::now();
        let (over, wait) = mpsc::channel::<()>();
        let name = label.clone();
        let ticker = thread::spawn(move || {
            let mut pause = QUIET_FOR;
            while wait.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                if pause == QUIET_FOR {
                    say(&format!("==> {name} ..."));
                } else {
                    say(&format!("==> {name} ... running, {}", show_time(started.elapsed())));
                }
                pause = ALIVE_EVERY;
            }
        });
        Self { label, started, over: Some(over), ticker: Some(ticker) }
    }

    /// Ends the step with a word on how it went, or none when it went well.
    pub fn end(mut self, remark: &str) -> Duration {
        self.stop_ticker();
        let elapsed = self.started.elapsed();
        let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
        say(&format!("==> {} ... {}{remark}", self.label, show_time(elapsed)));
        elapsed
    }

    fn stop_ticker(&mut self) {
        drop(self.over.take());
        if let Some(ticker) = self.ticker.take() {
            // A ticker that panicked has nothing left to say.
            let _ = ticker.join();
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.stop_ticker();
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
    log: PathBuf,
    shown: String,
}

impl Finished {
    /// The failure of this process, with the end of its output.
    pub fn failure(&self, what: &str) -> Failure {
        self.failure_showing(what, &self.output)
    }

    /// The same with the end of `part`, for output whose telling lines are not the last.
    pub fn failure_showing(&self, what: &str, part: &str) -> Failure {
        let lines: Vec<&str> = part.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        Failure::new(format!("{what} failed: {}", self.shown))
            .hint(format!("full output: {}", self.log.display()))
            .log_tail(tail)
    }
}

/// Runs a command with its output in `target/logs/<log_name>.log`, whatever its exit status.
pub fn capture(dirs: &Dirs, log_name: &str, command: &mut Command) -> Outcome<Finished> {
    let logs = dirs.logs();
    fs::create_dir_all(&logs).context(|| format!("cannot create {}", logs.display()))?;
    let log = logs.join(format!("{log_name}.log"));
    let file = File::create(&log).context(|| format!("cannot write {}", log.display()))?;
    let copy = file.try_clone().context(|| format!("cannot write {}", log.display()))?;
    let status = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(copy)
        .status()
        .map_err(|error| cannot_start(command, &error))?;
    let output = fs::read(&log).context(|| format!("cannot read {}", log.display()))?;
    Ok(Finished {
        success: status.success(),
        output: String::from_utf8_lossy(&output).into_owned(),
        log,
        shown: shown(command),
    })
}

/// Runs a command as a step that must succeed and returns its output.
pub fn step(dirs: &Dirs, label: &str, log_name: &str, command: &mut Command) -> Outcome<String> {
    let step = Step::begin(label);
    let finished = capture(dirs, log_name, command)?;
    if finished.success {
        step.end("");
        Ok(finished.output)
    } else {
        step.end("failed");
        Err(finished.failure(label))
    }
}

/// Does something with each of a list, some of them at a time, and in their order.
pub fn in_lanes<T: Sync>(lanes: usize, list: &[T], work: impl Fn(&T) + Sync) {
    let waiting = Mutex::new(list.iter());
    thread::scope(|scope| {
        for _ in 0..lanes.min(list.len()) {
            scope.spawn(|| {
                loop {
                    // Taken before the work begins, or the other lanes would wait for its end.
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(one) = next else { break };
                    work(one);
                }
            });
        }
    });
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

/// Finds a program on PATH.
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
