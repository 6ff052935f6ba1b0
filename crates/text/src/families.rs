//! Which words are forms of one: "camp", "camped" and "camping".

/// Shortest word that has forms, in letters.
const MIN_LETTERS: usize = 4;

/// Returns what the forms of an English word have in common, which need not be a word; none for what is no lower-case word
/// of at least four letters.
///
/// Steps 1b, 1c and 5 of "An algorithm for suffix stripping" (Porter, 1980): endings of tenses, and e and y at the end.
/// Endings that make other words, as in "relation" and "relative", stay.
///
/// ```
/// use contextweaver_text::families::root;
///
/// assert_eq!(root("camping"), root("camped"));
/// assert_eq!(root("hoping"), root("hope"));
/// assert_ne!(root("hopping"), root("hope"));
/// assert_eq!(root("v2"), None);
/// ```
pub fn root(word: &str) -> Option<String> {
    if word.len() < MIN_LETTERS || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let mut stem = without_tense(word);
    if let Some(head) = stem.strip_suffix('y')
        && has_vowel(head)
    {
        stem.pop();
        stem.push('i');
    }
    if let Some(head) = stem.strip_suffix('e')
        && (syllables(head) > 1 || (syllables(head) == 1 && !ends_short(head)))
    {
        stem.pop();
    }
    if stem.ends_with("ll") && syllables(&stem) > 1 {
        stem.pop();
    }
    Some(stem)
}

/// Takes off "ed" and "ing" and mends what is left: "hoping" is of "hope", "hopping" of "hop".
fn without_tense(word: &str) -> String {
    if let Some(head) = word.strip_suffix("eed") {
        return if syllables(head) > 0 { format!("{head}ee") } else { word.to_owned() };
    }
    let head = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing")).filter(|head| has_vowel(head));
    let Some(head) = head else { return word.to_owned() };
    let bytes = head.as_bytes();
    let is_double = bytes.len() > 1 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    if ["at", "bl", "iz"].iter().any(|end| head.ends_with(end)) || (syllables(head) == 1 && ends_short(head)) {
        format!("{head}e")
    } else if is_double && is_consonant(bytes, bytes.len() - 1) && !head.ends_with(['l', 's', 'z']) {
        head[..head.len() - 1].to_owned()
    } else {
        head.to_owned()
    }
}

fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

fn has_vowel(word: &str) -> bool {
    (0..word.len()).any(|at| !is_consonant(word.as_bytes(), at))
}

/// Counts how often consonants follow vowels: Porter's measure.
fn syllables(word: &str) -> usize {
    let word = word.as_bytes();
    (1..word.len()).filter(|at| is_consonant(word, *at) && !is_consonant(word, at - 1)).count()
}

/// Tells whether a word ends with consonant, vowel and consonant, as "hop" does, the last none of w, x and y.
fn ends_short(word: &str) -> bool {
    let word = word.as_bytes();
    let Some(from) = word.len().checked_sub(3) else { return false };
    is_consonant(word, from)
        && !is_consonant(word, from + 1)
        && is_consonant(word, from + 2)
        && !matches!(word[from + 2], b'w' | b'x' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_root() {
        for forms in [
            &["camp", "camped", "camping"][..],
            &["hope", "hoped", "hoping"],
            &["drop", "dropped", "dropping"],
            &["agree", "agreed", "agreeing"],
            &["travel", "travelled", "travelling"],
            &["create", "created", "creating"],
            &["cancel", "cancelled", "canceling"],
            &["reply", "replied"],
            &["size", "sized", "sizing"],
        ] {
            let roots: Vec<_> = forms.iter().map(|form| root(form)).collect();
            assert!(roots.iter().all(|found| found.is_some() && *found == roots[0]), "{forms:?} {roots:?}");
        }
    }

    #[test]
    fn other_words_and_what_is_no_word_stay_apart() {
        for (a, b) in [("hope", "hopping"), ("bring", "bred"), ("relation", "relative"), ("feed", "fee")] {
            assert_ne!(root(a), root(b), "{a} {b}");
        }
        for word in ["", "red", "ing", "v2.1", "naïve", "src/app.ts", "12446", "Camping"] {
            assert_eq!(root(word), None, "{word}");
        }
        assert_eq!(root("yyyy").as_deref(), Some("yyyi"));
    }
}
