//! Skips a step whose inputs did not change since it last succeeded.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::failure::{Context, Outcome};

/// A fingerprint of a step's inputs.
///
/// Not cryptographic: it only has to notice edits, and a change of the hash between compilers merely repeats a step.
#[derive(Default)]
pub struct Inputs(DefaultHasher);

impl Inputs {
    /// Adds a setting, such as a tool's version or flags.
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        text.as_ref().hash(&mut self.0);
        self
    }

    /// Adds the contents of a file, or of every file below a folder in order of path. Something absent counts as such.
    pub fn path(mut self, path: &Path) -> Outcome<Self> {
        for file in files_below(path)? {
            file.strip_prefix(path).unwrap_or(&file).hash(&mut self.0);
            let bytes = fs::read(&file).context(|| format!("cannot read {}", file.display()))?;
            bytes.hash(&mut self.0);
        }
        Ok(self)
    }

    /// Does the work unless it succeeded on these inputs before, which `stamp` records.
    pub fn once(self, stamp: &Path, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
        let value = format!("{:016x}", self.0.finish());
        if fs::read_to_string(stamp).is_ok_and(|recorded| recorded == value) {
            return Ok(());
        }
        work()?;
        fs::write(stamp, value).context(|| format!("cannot write {}", stamp.display()))
    }
}

/// Every file at or below `path`, sorted; none when it does not exist.
fn files_below(path: &Path) -> Outcome<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(path.exists().then(|| path.to_path_buf()).into_iter().collect());
    }
    let failed = || format!("cannot list {}", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(path).context(failed)? {
        files.extend(files_below(&entry.context(failed)?.path())?);
    }
    files.sort();
    Ok(files)
}
