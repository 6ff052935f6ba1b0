//! Files that a request names: "save it as /reports/q3.md".
//!
//! The words of a path are data, not what is asked for: a folder called `markdown` wants no tool that converts markdown.
//! What is asked for is that a file of its kind is written or read.

use std::borrow::Cow;
use std::ops::Range;

use super::analyse::{StopWords, for_each_word};

/// Most files of a request that are looked at.
const MAX_FILES: usize = 4;
/// Words before the name of a file among which the verb is looked for.
const VERB_WORDS: usize = 40;

/// What a file is called, the name that tools have for it last, and its extensions. Text is just a file.
const KINDS: &[(&str, &[&str])] = &[
    ("word document", &["doc", "docx", "odt", "rtf"]),
    ("powerpoint presentation", &["odp", "ppt", "pptx"]),
    ("spreadsheet workbook excel", &["ods", "xls", "xlsm", "xlsx"]),
    ("pdf", &["pdf"]),
    ("csv", &["csv", "tsv"]),
    ("image", &["bmp", "gif", "jpeg", "jpg", "png", "svg", "tiff", "webp"]),
    ("audio", &["flac", "m4a", "mp3", "ogg", "wav"]),
    ("video", &["avi", "mkv", "mov", "mp4", "webm"]),
    ("archive", &["7z", "gz", "rar", "tar", "tgz", "zip"]),
    ("html", &["htm", "html"]),
    (
        "file",
        &[
            "bib", "c", "cfg", "conf", "cpp", "cs", "css", "env", "go", "h", "ini", "java", "js", "json", "jsx", "kt",
            "log", "lua", "md", "php", "ps1", "py", "r", "rb", "rs", "rst", "scss", "sh", "sql", "swift", "tex",
            "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
        ],
    ),
];
/// Verbs that ask for a file to be made, and such that ask for what is in it.
const WRITING: &[&str] = &[
    "create", "draft", "export", "generate", "make", "output", "produce", "put", "record", "save", "saved", "store",
    "write",
];
const READING: &[&str] = &["analyze", "check", "extract", "load", "open", "parse", "read", "summarize"];

/// A file that a request names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedFile {
    range: Range<usize>,
    kind: &'static str,
    is_written: bool,
}

impl NamedFile {
    /// What is asked for: a verb and what the file is called.
    pub fn wish(&self) -> [&'static str; 2] {
        let noun = self.kind.rsplit(' ').next().unwrap_or(self.kind);
        match (self.is_written, noun) {
            (false, _) => ["read", noun],
            (true, "file") => ["write", noun],
            (true, _) => ["create", noun],
        }
    }
}

/// Finds the files that a request names by a path or a name with a known extension. Addresses are none, and where nothing
/// else is said ("and src/a.rs?"), nothing is asked of the file.
pub(super) fn named_files(text: &str, stop: &StopWords) -> Vec<NamedFile> {
    let (mut found, mut end) = (Vec::new(), 0);
    for token in text.split_inclusive(char::is_whitespace) {
        let start = end;
        end += token.len();
        let is_mark = |ch: char| ch.is_whitespace() || "\"'`()[]<>{},;:!?*".contains(ch);
        let left = token.len() - token.trim_start_matches(is_mark).len();
        let path = token.trim_matches(is_mark).trim_end_matches('.');
        if found.len() < MAX_FILES
            && let Some(kind) = kind_of(path)
        {
            let range = start + left..start + left + path.len();
            found.push(NamedFile { is_written: is_written(&text[..range.start]), range, kind });
        }
    }
    if !found.is_empty() && !says_more(&replaced(text, &found, |_| ""), stop) {
        found.clear();
    }
    found
}

/// Tells whether a text has a word that is not left out of queries.
fn says_more(text: &str, stop: &StopWords) -> bool {
    let mut found = false;
    for_each_word(text, &mut |word| found |= !stop.hides_in_queries(word));
    found
}

/// Returns what a file with this path is called, if it is one.
fn kind_of(path: &str) -> Option<&'static str> {
    if path.contains("://") || path.starts_with("www.") {
        return None;
    }
    let (stem, extension) = path.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let (kind, _) = KINDS.iter().find(|(_, known)| known.contains(&extension.as_str()))?;
    (!stem.is_empty()).then_some(*kind)
}

/// Tells whether a file is to be written, by the last verb before it.
fn is_written(before: &str) -> bool {
    let lower = before.to_ascii_lowercase();
    let words = lower.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut last = words.rev().take(VERB_WORDS).filter(|word| WRITING.contains(word) || READING.contains(word));
    last.next().is_some_and(|verb| WRITING.contains(&verb))
}

/// Returns a request with what the files that it names are called in place of their paths.
pub(super) fn without_paths<'a>(text: &'a str, files: &[NamedFile]) -> Cow<'a, str> {
    if files.is_empty() { text.into() } else { replaced(text, files, |file| file.kind).into() }
}

fn replaced(text: &str, files: &[NamedFile], by: fn(&NamedFile) -> &'static str) -> String {
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for file in files {
        out.push_str(&text[end..file.range.start]);
        out.push_str(by(file));
        end = file.range.end;
    }
    out.push_str(&text[end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::super::lexicon;
    use super::*;

    #[test]
    fn paths_become_what_is_wanted_of_them() {
        let stop = lexicon::stop_words();
        let cases: [(&str, &str, &[[&str; 2]]); 9] = [
            ("Draft an intro in /srv/markdown/github_trends.md.", "Draft an intro in file.", &[["write", "file"]]),
            (
                "read `src/main.rs`, then save a summary as Notes.DOCX",
                "read `file`, then save a summary as word document",
                &[["read", "file"], ["create", "document"]],
            ),
            (
                "Which sheets does C:\\data\\q3.xlsx have?",
                "Which sheets does spreadsheet workbook excel have?",
                &[["read", "excel"]],
            ),
            (
                "Read the talk and make slides, saved to ~/talk.pptx",
                "Read the talk and make slides, saved to powerpoint presentation",
                &[["create", "presentation"]],
            ),
            (
                "open https://a.example/x.html and www.b.example/y.pdf",
                "open https://a.example/x.html and www.b.example/y.pdf",
                &[],
            ),
            ("what is in /srv/git, v1.2 of it?", "what is in /srv/git, v1.2 of it?", &[]),
            (".env and .md", ".env and .md", &[]),
            ("and what about src/lexer.rs?", "and what about src/lexer.rs?", &[]),
            ("", "", &[]),
        ];
        for (text, plain, wishes) in cases {
            let files = named_files(text, &stop);
            assert_eq!(without_paths(text, &files), plain);
            assert_eq!(files.iter().map(NamedFile::wish).collect::<Vec<_>>(), wishes, "{text}");
        }
        assert_eq!(named_files(&"print a.txt ".repeat(100), &stop).len(), MAX_FILES);
    }
}
