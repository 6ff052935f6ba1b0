//! `release.toml`: where the project lives and who publishes it, in one place for all that says so.

use std::fs;

use serde_json::{Value, json};
use toml_edit::DocumentMut;

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};

/// The file, beside `Cargo.toml`.
pub const FILE: &str = "release.toml";
const FIELDS: [&str; 5] = ["repository", "homepage", "bugs", "author", "license"];

/// What the file says, in the order of its fields; empty where nothing is said.
#[derive(Debug)]
pub struct Release([String; FIELDS.len()]);

impl Release {
    /// Reads the file.
    pub fn read(dirs: &Dirs) -> Outcome<Self> {
        let file = dirs.root.join(FILE);
        Self::parse(&fs::read_to_string(&file).context(|| format!("cannot read {}", file.display()))?)
    }

    fn parse(text: &str) -> Outcome<Self> {
        let document: DocumentMut = text.parse().map_err(|error| Failure::new(format!("{FILE}: {error}")))?;
        if let Some((name, _)) = document.iter().find(|(name, _)| !FIELDS.contains(name)) {
            return Err(
                Failure::new(format!("{FILE}: unknown field {name}")).hint(format!("one of: {}", FIELDS.join(" ")))
            );
        }
        let text_of =
            |name: &str| document.get(name).and_then(|item| item.as_str()).unwrap_or_default().trim().to_owned();
        let release = Self(FIELDS.map(text_of));
        for (name, value) in FIELDS.iter().zip(&release.0).take(3) {
            if !value.is_empty() && !value.starts_with("https://") {
                return Err(Failure::new(format!("{FILE}: {name} is no address of https: {value}")));
            }
        }
        Ok(release)
    }

    /// The fields of which nothing is said.
    pub fn missing(&self) -> Vec<&'static str> {
        FIELDS.iter().zip(&self.0).filter(|(_, value)| value.is_empty()).map(|(name, _)| *name).collect()
    }

    /// The address of the repository, without a slash at its end; empty where there is none.
    pub fn repository(&self) -> &str {
        self.0[0].trim_end_matches('/').trim_end_matches(".git")
    }

    /// Writes what is said into a package.json.
    pub fn fill(&self, manifest: &mut Value) {
        for (name, value) in FIELDS.iter().zip(&self.0).filter(|(_, value)| !value.is_empty()) {
            manifest[*name] = match *name {
                "repository" => json!({ "type": "git", "url": format!("git+{}.git", self.repository()) }),
                "bugs" => json!({ "url": value }),
                _ => json!(value),
            };
        }
    }

    /// A document of which the links lead to the repository, for where its files are not beside it.
    pub fn absolute(&self, markdown: &str, version: &str) -> String {
        let repository = self.repository();
        let mut parts = markdown.split("](");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text.push_str("](");
            let target = part.split(')').next().unwrap_or_default();
            if !repository.is_empty() && !target.contains(':') && !target.starts_with('#') {
                let is_picture = [".jpg", ".png", ".svg"].iter().any(|end| target.ends_with(end));
                text.extend([repository, if is_picture { "/raw/v" } else { "/blob/v" }, version, "/"]);
            }
            text.push_str(part);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "repository = \"https://git.example/us/it\"\nbugs = \"https://git.example/us/it/issues\"\nlicense = \"Apache-2.0\"";

    fn parsed(text: &str) -> Release {
        Release::parse(text).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn what_is_said_is_in_the_manifest_and_what_is_not_is_missing() {
        let release = parsed(GIVEN);
        let mut manifest = json!({ "name": "x" });
        release.fill(&mut manifest);
        let expected = json!({
            "name": "x",
            "repository": { "type": "git", "url": "git+https://git.example/us/it.git" },
            "bugs": { "url": "https://git.example/us/it/issues" },
            "license": "Apache-2.0",
        });
        assert_eq!(manifest, expected);
        assert_eq!(release.missing(), ["homepage", "author"]);
    }

    #[test]
    fn links_of_the_packed_readme_lead_to_the_repository() {
        let readme = "[a](docs/a.md#b) ![p](docs/p.svg) [w](https://x.example/) [here](#here)";
        let there = "[a](https://git.example/us/it/blob/v1.2.3/docs/a.md#b) ![p](https://git.example/us/it/raw/v1.2.3/docs/p.svg) [w](https://x.example/) [here](#here)";
        assert_eq!(parsed(GIVEN).absolute(readme, "1.2.3"), there);
        assert_eq!(parsed("").absolute(readme, "1.2.3"), readme);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in
            [("licence = \"x\"", "unknown field licence"), ("bugs = \"git@x\"", "no address of https"), ("=", FILE)]
        {
            let message = Release::parse(text).err().map_or_else(String::new, |failure| failure.to_string());
            assert!(message.contains(said), "{message}");
        }
    }
}
