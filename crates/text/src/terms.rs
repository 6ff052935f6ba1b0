//! Search terms of the default scoring: Unicode words, compounds whole and in parts, light stemming.

use super::data::Base64Runs;
use super::openings::Openings;
use super::tokenize;

/// Words that carry no topic beyond those of [`tokenize::is_stopword`].
const MORE_STOPWORDS: &[&str] =
    &["also", "like", "might", "must", "please", "shall", "upon", "whose", "within", "without", "yes"];

/// How the words begin that carry no topic and are longer than one letter: most words begin with none of them.
const OPENINGS: Openings = {
    let (mut openings, mut at) = (tokenize::STOPWORD_OPENINGS, 0);
    while at < MORE_STOPWORDS.len() {
        openings = openings.with(MORE_STOPWORDS[at]);
        at += 1;
    }
    openings
};

/// Tells whether a lower-case word of at least two letters carries no topic: articles, pronouns, auxiliaries, prepositions, conjunctions,
/// question words, negations and a few fillers. "get" and "now" do, unlike in contextweaver 0.18: they name tools and times.
fn is_stopword(word: &str) -> bool {
    OPENINGS.may_start(word.as_bytes())
        && ((tokenize::is_stopword(word) && !matches!(word, "get" | "now")) || MORE_STOPWORDS.contains(&word))
}

/// Longest compound that is a term of its own.
const MAX_COMPOUND_CHARS: usize = 64;

/// Calls `each` for every term of the text, in order.
///
/// A run of letters and digits joined by single `_ . / @ # : -` is a compound: it is a term as a whole when it has
/// several parts and at most 64 characters, and every part is a term after stemming. Stop words and single letters are
/// left out. Scripts written without spaces give overlapping pairs of characters. Of base64 and the like, only the
/// beginning has terms.
///
/// ```
/// use contextweaver_text::terms::for_each_term;
///
/// let mut terms = Vec::new();
/// for_each_term("The routers of eu-west", |term| terms.push(term.to_owned()));
/// assert_eq!(terms, ["router", "eu-west", "eu", "west"]);
/// ```
pub fn for_each_term(text: &str, mut each: impl FnMut(&str)) {
    let mut lower = String::new();
    for_each_run(text, |run, parts| {
        lower.clear();
        lower_into(&mut lower, run);
        if parts > 1 && is_short(&lower) {
            each(&lower);
        }
        if lower.is_ascii() {
            let mut from = 0;
            for (at, byte) in lower.bytes().enumerate() {
                if !byte.is_ascii_alphanumeric() {
                    emit_word(&lower[from..at], &mut each);
                    from = at + 1;
                }
            }
            emit_word(&lower[from..], &mut each);
        } else {
            for part in lower.split(|ch: char| !ch.is_alphanumeric() && !is_mark(ch)) {
                emit_part(part, &mut each);
            }
        }
    });
}

/// Calls `each` for every run of a text that is one identifier as a whole, as the text spells it, with its term: for what is
/// to be said as it stands there. Of runs that are taken apart alone, for being too long or words of an unspaced script, none
/// is told.
///
/// ```
/// use contextweaver_text::terms::for_each_identifier;
///
/// let mut found = Vec::new();
/// for_each_identifier("Orders W-4711, W-4712s", |spelling, term| found.push(format!("{term}={spelling}")));
/// assert_eq!(found, ["w-4711=W-4711", "w-4712s=W-4712s"]);
/// ```
pub fn for_each_identifier(text: &str, mut each: impl FnMut(&str, &str)) {
    let mut lower = String::new();
    for_each_run(text, |run, parts| {
        // Most words are none, and need not be made terms.
        if !run.chars().any(tells_identifier) {
            return;
        }
        lower.clear();
        lower_into(&mut lower, run);
        let mut tell = |term: &str| {
            if is_identifier(term) {
                each(run, term);
            }
        };
        match parts {
            1 if lower.is_ascii() => emit_word(&lower, &mut tell),
            1 => {}
            _ if is_short(&lower) => tell(&lower),
            _ => {}
        }
    });
}

/// Calls `each` for every run of letters and digits with the joints between them, and the number of its parts.
fn for_each_run(text: &str, mut each: impl FnMut(&str, usize)) {
    let mut rest = text;
    let mut data = Base64Runs::of(text);
    while let Some(start) = first_alphanumeric(rest) {
        let run = &rest[start..];
        let begin = text.len() - run.len();
        let data_end = data.end(begin);
        let (end, parts) = if data_end.is_some() { (MAX_COMPOUND_CHARS, 1) } else { measure_run(run) };
        each(&run[..end], parts);
        rest = &text[data_end.unwrap_or(begin + end)..];
    }
}

fn is_short(compound: &str) -> bool {
    compound.len() <= MAX_COMPOUND_CHARS || compound.chars().nth(MAX_COMPOUND_CHARS).is_none()
}

/// Finds the first letter or digit; the ASCII characters before it are passed by their bytes.
fn first_alphanumeric(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        if byte.is_ascii() {
            if byte.is_ascii_alphanumeric() {
                return Some(at);
            }
            at += 1;
        } else {
            let ch = text[at..].chars().next()?;
            if ch.is_alphanumeric() {
                return Some(at);
            }
            at += ch.len_utf8();
        }
    }
    None
}

/// Returns the byte length of the compound at the start of the text and the number of its parts.
fn measure_run(text: &str) -> (usize, usize) {
    let (mut end, mut parts) = (0, 1);
    while let Some(byte) = text.as_bytes().get(end) {
        if byte.is_ascii_alphanumeric() {
            end += 1;
        } else if byte.is_ascii() {
            let joins = is_joint(*byte) && text[end + 1..].starts_with(char::is_alphanumeric);
            if !joins {
                break;
            }
            (end, parts) = (end + 1, parts + 1);
        } else {
            let ch = text[end..].chars().next().filter(|ch| ch.is_alphanumeric() || is_mark(*ch));
            let Some(ch) = ch else { break };
            end += ch.len_utf8();
        }
    }
    (end, parts)
}

fn lower_into(out: &mut String, text: &str) {
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.push_str(&text.to_lowercase());
    }
}

fn emit_part(part: &str, each: &mut impl FnMut(&str)) {
    if part.is_ascii() {
        return emit_word(part, each);
    }
    // Words of spaced scripts and stretches of unspaced ones alternate without a separator, as in "v2版本".
    let mut rest = part;
    while let Some(first) = rest.chars().next() {
        let dense = is_dense(first);
        let end = rest.find(|ch| is_dense(ch) != dense).unwrap_or(rest.len());
        let (stretch, tail) = rest.split_at(end);
        if dense {
            emit_pairs(stretch, each);
        } else {
            emit_word(stretch, each);
        }
        rest = tail;
    }
}

fn emit_pairs(stretch: &str, each: &mut impl FnMut(&str)) {
    let mut starts = stretch.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
    starts.push(stretch.len());
    if starts.len() == 2 {
        return each(stretch);
    }
    for window in starts.windows(3) {
        if let [from, _, to] = window {
            each(&stretch[*from..*to]);
        }
    }
}

fn emit_word(word: &str, each: &mut impl FnMut(&str)) {
    let mut chars = word.chars();
    let too_short = match word.as_bytes() {
        [] => true,
        [only] => !only.is_ascii_digit(),
        [first, ..] => !first.is_ascii() && !chars.next().is_some_and(char::is_numeric) && chars.next().is_none(),
    };
    if too_short {
        return;
    }
    if !is_stopword(word) {
        stem(word, each);
    }
}

/// Harman's S-stemmer ("How effective is suffixing?", 1991): plural endings only.
fn stem(word: &str, each: &mut impl FnMut(&str)) {
    if word.as_bytes().last() != Some(&b's') {
        return each(word);
    }
    let length = word.chars().count();
    let before = |suffix: &str| word.strip_suffix(suffix).and_then(|head| head.chars().next_back());
    if let Some(ch) = before("ies")
        && length > 4
        && !matches!(ch, 'a' | 'e')
    {
        let mut singular = word[..word.len() - 3].to_owned();
        singular.push('y');
        return each(&singular);
    }
    if let Some(ch) = before("es")
        && length > 3
        && !matches!(ch, 'a' | 'e' | 'o')
    {
        return each(&word[..word.len() - 1]);
    }
    if let Some(ch) = before("s")
        && length > 3
        && !matches!(ch, 'u' | 's')
    {
        return each(&word[..word.len() - 1]);
    }
    each(word);
}

/// Tells whether a term looks like an identifier: at least 3 characters with a digit or one of `_ @ / .`.
pub fn is_identifier(term: &str) -> bool {
    term.chars().nth(2).is_some() && term.chars().any(tells_identifier)
}

fn tells_identifier(ch: char) -> bool {
    ch.is_numeric() || matches!(ch, '_' | '@' | '/' | '.')
}

/// Endings of names of files: sources, data, documents and images.
const FILE_ENDINGS: [&str; 44] = [
    "bat", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "diff", "docx", "go", "h", "html", "ini",
    "ipynb", "java", "jpg", "js", "json", "jsx", "kt", "log", "md", "mjs", "patch", "pdf", "php", "png", "proto", "py",
    "rb", "rs", "rst", "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "xml", "yaml",
];

/// Tells whether an identifier is likely to name one thing that may be asked for again: an id, a path, a file, an address, a
/// number of five digits and more. No date, time, decimal, range or measure, nor the name of a field.
///
/// ```
/// use contextweaver_text::terms::is_naming;
///
/// assert!(["w2378156", "ord_7", "src/app.ts", "app.ts", "mia@x.org", "48213", "60rx9e"].into_iter().all(is_naming));
/// assert!(!["2026-05-01", "10:30", "1234.56", "24-hour", "user_id", "and/or", "utf-8", "401-407", "os.path"].into_iter().any(is_naming));
/// ```
pub fn is_naming(term: &str) -> bool {
    if !is_identifier(term) || term.chars().nth(3).is_none() || looks_like_date(term) {
        return false;
    }
    let digits = term.bytes().filter(u8::is_ascii_digit).count();
    if !term.chars().any(char::is_alphabetic) {
        let mut parts = term.split('-');
        let is_range = parts.clone().count() == 2 && parts.all(|part| part.len() <= 4);
        let is_decimal = term.matches('.').count() == 1;
        return digits >= 5 && !is_range && !is_decimal && !term.contains(':');
    }
    if term.contains('@') || (term.contains('/') && digits == 0) {
        return term.split('/').count() > 2 || term.contains(['.', '_']);
    }
    if term.rsplit_once('.').is_some_and(|(stem, ending)| stem.len() > 1 && FILE_ENDINGS.contains(&ending)) {
        return true;
    }
    // "24-hour" and "7.8million" say how much, "12:def" on which line, "covid-19" and "march25" are words.
    let after_number = term.trim_start_matches(|ch: char| ch.is_ascii_digit() || ch == '.');
    let leads = term.len() - after_number.len();
    let is_measure = leads > 0 && after_number.chars().all(|ch| ch.is_alphabetic() || ch == '-');
    let is_line = leads > 0 && after_number.starts_with(':');
    let word = term.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.');
    let is_word =
        (1..=2).contains(&(term.len() - word.len())) && word.trim_end_matches('-').chars().all(char::is_alphabetic);
    digits > 0 && !is_measure && !is_line && !is_word
}

/// Tells whether a term begins with a year, a month and a day.
fn looks_like_date(term: &str) -> bool {
    let mut parts = term.splitn(3, ['-', '/', '.']);
    let mut is_number = |most: usize| {
        let part = parts.next().unwrap_or_default();
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        (1..=most).contains(&digits) && (digits == part.len() || most == 2 && part[digits..].starts_with('t'))
    };
    is_number(4) && is_number(2) && is_number(2)
}

const fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'.' | b'/' | b'@' | b'#' | b':' | b'-')
}

/// Combining marks belong to the letter before them; without this, Indic and decomposed text falls apart.
pub const fn is_mark(ch: char) -> bool {
    matches!(ch as u32,
        0x300..=0x36F | 0x591..=0x5BD | 0x64B..=0x65F | 0x900..=0x903 | 0x93A..=0x94F | 0x981..=0x983 | 0x9BC..=0x9CD
        | 0xE31 | 0xE34..=0xE3A | 0xE47..=0xE4E | 0x200D | 0x20D0..=0x20FF)
}

/// Tells whether the script writes words without spaces: Han, kana, Hangul, Thai, Lao, Khmer, Myanmar.
const fn is_dense(ch: char) -> bool {
    matches!(ch as u32,
        0xE00..=0xEFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3130..=0x318F
        | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFF66..=0xFF9F
        | 0x20000..=0x3134F)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        for_each_term(text, |term| out.push(term.to_owned()));
        out
    }

    #[test]
    fn words_compounds_and_stems() {
        assert_eq!(terms("The Queries and boxes"), ["query", "boxe"]);
        assert_eq!(terms("gift_card_8887175"), ["gift_card_8887175", "gift", "card", "8887175"]);
        assert_eq!(terms("see src/app.ts: line 7."), ["see", "src/app.ts", "src", "app", "ts", "line", "7"]);
        assert_eq!(terms("buses gas bus status class"), ["buse", "gas", "bus", "status", "class"]);
        assert_eq!(terms("a--b x 5"), ["5"]);
        assert_eq!(terms(""), Vec::<String>::new());
    }

    #[test]
    fn of_data_only_the_beginning_counts() {
        let path = "src/user-module_1/".repeat(14);
        assert_eq!(terms(&path).len(), 14 * 4);
        let data = format!("a {}== b2 {path}", "Ab0+".repeat(100));
        let found = terms(&data);
        assert_eq!(found.iter().filter(|term| *term == "ab0").count(), 16);
        assert_eq!(found[..2], ["ab0", "ab0"]);
        assert_eq!(found.len(), 16 + 1 + 14 * 4);
    }

    #[test]
    fn other_scripts_are_searchable() {
        assert_eq!(terms("Привет мир"), ["привет", "мир"]);
        assert_eq!(terms("今日は"), ["今日", "日は"]);
        assert_eq!(terms("v2版本号"), ["v2", "版本", "本号"]);
        assert_eq!(terms("ไทย"), ["ไท", "ทย"]);
        assert_eq!(terms("हिन्दी"), ["हिन्दी"]);
        assert_eq!(terms("naïve café"), ["naïve", "café"]);
    }

    #[test]
    fn identifiers() {
        assert!(is_identifier("m05knl") && is_identifier("a/b") && is_identifier("12446"));
        assert!(!is_identifier("12") && !is_identifier("order"));
    }
}
