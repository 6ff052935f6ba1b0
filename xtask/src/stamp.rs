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

    /// The record for the step that writes `stamp_file`.
    pub fn stamp(self, stamp_file: PathBuf) -> Stamp {
        Stamp { file: stamp_file, value: format!("{:016x}", self.0.finish()) }
    }
}

/// The recorded fingerprint of a step.
pub struct Stamp {
    file: PathBuf,
    value: String,
}

impl Stamp {
    /// Whether the step already succeeded on these inputs.
    pub fn is_current(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|recorded| recorded == self.value)
    }

    /// Records success. To be called after the step's outputs are complete.
    pub fn record(&self) -> Outcome<()> {
        fs::write(&self.file, &self.value).context(|| format!("cannot write {}", self.file.display()))
    }
}

/// Every file at or below `path`, sorted; none when it does not exist.
pub fn files_below(path: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    if path.is_dir() {
        folders.push(path.to_path_buf());
    } else if path.exists() {
        files.push(path.to_path_buf());
    }
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry.context(|| format!("cannot list {}", folder.display()))?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
