//! Sizes of what is shipped, and their limits.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::{Context, Failure, Outcome};
use crate::run::say;

const KIB: usize = 1024;
/// Percent of a limit above which a warning is printed.
const WARN_FROM: usize = 80;

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
        let failed = || format!("cannot measure {}", file.display());
        let bytes = fs::read(file).context(failed)?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes).context(failed)?;
        let compressed = encoder.finish().context(failed)?;
        Ok(Self {
            name: name.to_owned(),
            raw: bytes.len(),
            gzip: compressed.len(),
            limit: limit_kib.map(|kib| kib * KIB),
        })
    }

    pub fn of_archive(name: &str, file: &Path) -> Outcome<Self> {
        let length = fs::metadata(file).context(|| format!("cannot read {}", file.display()))?.len();
        let length = usize::try_from(length).context(|| format!("{} is too large", file.display()))?;
        Ok(Self { name: name.to_owned(), raw: length, gzip: length, limit: None })
    }

    fn is_within(&self, share: usize) -> bool {
        self.limit.is_none_or(|limit| self.gzip * 100 <= limit * share)
    }

    fn row(&self) -> String {
        let remark = match (self.is_within(WARN_FROM), self.is_within(100)) {
            (true, _) => "",
            (_, true) => "  WARNING: above 80 %",
            _ => "  TOO LARGE",
        };
        let limit = self.limit.map_or(String::new(), |limit| format!("  limit {} KiB{remark}", limit / KIB));
        format!("    {:<24} {:>12} {:>12}{limit}", self.name, kib(self.raw), kib(self.gzip))
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
        sizes.iter().filter(|size| !size.is_within(100)).map(|size| size.name.as_str()).collect();
    if too_large.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("over the size limit: {}", too_large.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn warns_before_it_fails() {
        for (gzip, remark) in [(80, ""), (81, "WARNING"), (100, "WARNING"), (101, "TOO LARGE")] {
            let row = Size { name: "x".to_owned(), raw: 500, gzip, limit: Some(100) }.row();
            assert_eq!(row.contains("WARNING"), remark == "WARNING", "{row}");
            assert_eq!(row.contains("TOO LARGE"), remark == "TOO LARGE", "{row}");
        }
    }
}
