//! Recognises source code by its lines, and finds what it defines.

/// Words that a line of code begins with, in the languages that are read most.
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "abstract", "async", "await", "break", "case", "catch", "class", "const", "continue", "def", "defer", "elif", "else",
    "enum", "except", "export", "extern", "final", "finally", "fn", "for", "from", "func", "function", "if", "impl", "import",
    "interface", "let", "match", "mod", "module", "namespace", "package", "private", "protected", "pub", "public", "raise",
    "return", "static", "struct", "switch", "throw", "trait", "try", "type", "use", "using", "val", "var", "while", "with",
    "yield",
];
/// Those of them that begin no line of prose.
const STARTERS: &[&str] =
    &["async", "const", "def", "elif", "fn", "func", "import", "package", "pub", "return", "using", "yield"];
/// Words that may stand before a definer.
const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "static",
    "unsafe",
];
/// Words that define a name.
const DEFINERS: &[&str] = &[
    "class",
    "def",
    "enum",
    "fn",
    "func",
    "function",
    "impl",
    "interface",
    "mod",
    "module",
    "namespace",
    "record",
    "struct",
    "trait",
    "type",
];
/// Words that define a name at the outermost level; further in, it is a local variable.
const BINDERS: &[&str] = &["const", "let", "val", "var"];

/// Tells whether lines are mostly code: at least half begin or end as statements do, and hardly any as frames of a trace.
///
/// Prose, logs and tables have such lines, too, but few: "for", "from" and "use" begin lines of wrapped prose.
pub(crate) fn is_code(lines: &[&str]) -> bool {
    let code = lines.iter().filter(|line| is_statement(line)).count();
    let frames = lines.iter().filter(|line| is_frame(line)).count();
    // `#` begins a comment of Python and a heading of Markdown, so such a line counts for neither.
    let told = lines.iter().filter(|line| !line.trim_start().starts_with('#')).count();
    lines.len() >= 3 && code * 2 >= told && code >= 2 && frames * 10 < lines.len()
}

fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("at ") || text.starts_with("File \"") || text.starts_with("Traceback ")
}

fn is_statement(line: &str) -> bool {
    let text = line.trim();
    let closes = text.chars().all(|ch| matches!(ch, '{' | '}' | '(' | ')' | '[' | ']' | ',' | ';'));
    let ends = ["{", "};", ");", "=>", "->", "):", "){", ";"].iter().any(|end| text.ends_with(end));
    let remark = ["//", "/*", "*/", "#include", "#[", "@"].iter().any(|mark| text.starts_with(mark));
    let (word, rest) = split_word(text);
    let opens = OPENERS.contains(&word) && (rest.starts_with([' ', '(', ';', ':']) || rest.is_empty());
    let calls = !word.is_empty() && rest.starts_with('(') && text.ends_with(')');
    closes
        || ends
        || remark
        || calls
        || (opens && (has_mark(rest) || STARTERS.contains(&word) || rest.contains(" import ")))
}

/// Tells whether a line goes on with more than words, as prose does that begins with "for" or "if".
fn has_mark(rest: &str) -> bool {
    rest.bytes().any(|byte| matches!(byte, b'(' | b'{' | b'=' | b':' | b';' | b'<' | b'*' | b'"' | b'\'' | b'_' | b'.'))
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count())
}

/// What a line of code defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defined {
    /// A function, a type, a module.
    Structure,
    /// A value with a name, at the outermost level.
    Name,
}

/// Returns what a line of code defines; `None` for a local variable and for a line that defines nothing.
pub(crate) fn defines(line: &str) -> Option<Defined> {
    let mut rest = line.trim_start();
    let is_outermost = rest.len() == line.len();
    loop {
        let (word, after) = split_word(rest);
        if word.is_empty() || !after.starts_with([' ', '(', '<']) {
            return None;
        }
        let names =
            || after.trim_start().starts_with(|ch: char| ch.is_alphabetic() || matches!(ch, '_' | '$' | '(' | '<'));
        if DEFINERS.contains(&word) {
            return names().then_some(Defined::Structure);
        }
        if is_outermost && BINDERS.contains(&word) {
            return names().then_some(Defined::Name);
        }
        if !MODIFIERS.contains(&word) {
            return None;
        }
        // `pub(crate) fn`
        rest = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')').map_or("", |(_, after)| after.trim_start()),
            None => after.trim_start(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_prose_logs_and_tables() {
        let cases = [
            (
                "export const a_0 = compute(0, \"a-0\");\nexport const a_1 = compute(7919, \"a-4\");\nexport const b = 1;",
                true,
            ),
            (
                "import os\nimport sys, json\n\nfrom a.b import c, d\nRED, BLUE = 1, 2\nfor x in (1, 2):\n    print(x, y)",
                true,
            ),
            ("fn main() {\n    let a = 1;\n    println!(\"{a}, b\");\n}\n", true),
            (
                "class A:\n    def f(self, a, b):\n        return a, b\n    def g(self):\n        raise ValueError(1)",
                true,
            ),
            (".a, .b {\n  color: red;\n}\n.c {\n  margin: 0 1px;\n}", true),
            ("from here to there, and\nfor a while, we went\nif only it were so", false),
            ("id;name;note\n1;ann;let go\n2;bob;x", false),
            ("2026-03-01 INFO import done\n2026-03-01 INFO return {\n2026-03-01 WARN x", false),
            ("Traceback (most recent call last):\n  File \"a.py\", line 1\n    return f(1)\nValueError: no", false),
            ("TypeError: x\n    at f (a.js:1:2)\n    at g (a.js:3:4);", false),
            ("one;\ntwo;", false),
        ];
        for (text, expected) in cases {
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            assert_eq!(is_code(&lines), expected, "{text}");
        }
    }

    #[test]
    fn definitions_are_found() {
        for line in [
            "export const a = 1;",
            "export default async function run() {",
            "    pub(crate) fn of(text: &str) -> Self {",
            "class Order(Base):",
            "    async def f(self):",
            "impl<T> From<T> for A {",
            "func (s *Server) Start() error {",
            "public static class A {",
        ] {
            assert!(defines(line).is_some(), "{line}");
        }
        for line in
            ["    const x = 1;", "return f(x)", "// fn main", "functional = 1", "export { a };", "type: string", ""]
        {
            assert_eq!(defines(line), None, "{line}");
        }
    }
}
