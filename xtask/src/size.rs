//! Sizes of what is shipped, and their limits.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::{Context, Failure, Outcome};
use crate::run::say;

const KIB: usize = 1024;

/// One measured file.
#[derive(Debug, Clone)]
pub struct Size {
    name: String,
    raw: usize,
    gzip: usize,
    /// Largest allowed compressed size.
    limit: Option<usize>,
}

impl Size {
    /// Measures a file as it is and after gzip -9.
    pub fn of(name: &str, file: &Path, limit_kib: Option<usize>) -> Outcome<Self> {
        let bytes = fs::read(file).context(|| format!("cannot read {}", file.display()))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes).context(|| format!("cannot compress {}", file.display()))?;
        let compressed = encoder.finish().context(|| format!("cannot compress {}", file.display()))?;
        Ok(Self {
            name: name.to_owned(),
            raw: bytes.len(),
            gzip: compressed.len(),
            limit: limit_kib.map(|kib| kib * KIB),
        })
    }

    /// Measures a file that is compressed already.
    pub fn of_archive(name: &str, file: &Path) -> Outcome<Self> {
        let length = fs::metadata(file).context(|| format!("cannot read {}", file.display()))?.len();
        let length = usize::try_from(length).context(|| format!("{} is too large", file.display()))?;
        Ok(Self { name: name.to_owned(), raw: length, gzip: length, limit: None })
    }

    fn state(&self) -> State {
        match self.limit {
            Some(limit) if self.gzip > limit => State::TooLarge,
            Some(limit) if self.gzip * 5 > limit * 4 => State::Near,
            _ => State::Fine,
        }
    }

    fn row(&self) -> String {
        let limit =
            self.limit.map_or(String::new(), |limit| format!("  limit {} KiB{}", limit / KIB, self.state().remark()));
        format!("    {:<24} {:>12} {:>12}{limit}", self.name, kib(self.raw), kib(self.gzip))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Fine,
    Near,
    TooLarge,
}

impl State {
    fn remark(&self) -> &'static str {
        match self {
            Self::Fine => "",
            Self::Near => "  WARNING: above 80 %",
            Self::TooLarge => "  TOO LARGE",
        }
    }
}

fn kib(bytes: usize) -> String {
    format!("{}.{} KiB", bytes / KIB, bytes % KIB * 10 / KIB)
}

/// Prints the table and fails when a limit is passed.
pub fn report(sizes: &[Size]) -> Outcome<()> {
    say(&format!("    {:<24} {:>12} {:>12}", "", "raw", "gzip -9"));
    for size in sizes {
        say(&size.row());
    }
    let too_large: Vec<&str> =
        sizes.iter().filter(|size| size.state() == State::TooLarge).map(|size| size.name.as_str()).collect();
    if too_large.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("over the size limit: {}", too_large.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, State};

    #[test]
    fn warns_before_it_fails() {
        for (gzip, state) in [(80, State::Fine), (81, State::Near), (100, State::Near), (101, State::TooLarge)] {
            let size = Size { name: "x".to_owned(), raw: 500, gzip, limit: Some(100) };
            assert_eq!(size.state(), state);
        }
    }
}
