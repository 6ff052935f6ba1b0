//! Names of tools and the words in them.

use contextweaver_text::quote::quote;

/// Longest name of a tool in MCP.
const MAX_NAME_CHARS: usize = 128;

/// Tells whether a name is one of MCP: 1 to 128 of `A-Z a-z 0-9 _ - .`.
pub(super) fn is_mcp_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=MAX_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Tells whether a name is lower-case words joined by `_`, the first beginning with a letter.
pub(super) fn is_snake_case(name: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.starts_with(|ch: char| ch.is_ascii_lowercase()) && name.split('_').all(is_word)
}

/// Splits a name at everything that is no letter or digit and at the humps of camel case, into lower-case words:
/// `HTTPGet2` becomes `http`, `get2`.
pub(super) fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for (at, ch) in chars.iter().enumerate() {
        if !ch.is_alphanumeric() {
            is_open = false;
            continue;
        }
        let before = at.checked_sub(1).map(|at| chars[at]);
        let is_hump = ch.is_uppercase()
            && (before.is_some_and(|ch| !ch.is_uppercase()) || chars.get(at + 1).is_some_and(|ch| ch.is_lowercase()));
        match words.last_mut() {
            Some(word) if is_open && !is_hump => word.extend(ch.to_lowercase()),
            _ => words.push(ch.to_lowercase().collect()),
        }
        is_open = true;
    }
    words
}

/// Returns a name in snake case, or why there is none.
pub(super) fn snake_case(name: &str) -> Result<String, String> {
    if is_snake_case(name) {
        return Ok(name.to_owned());
    }
    let snake = words(name).join("_");
    let is_fit = is_snake_case(&snake) && is_mcp_name(&snake);
    if is_fit { Ok(snake) } else { Err(format!("{} cannot be written in snake case", quote(name))) }
}

/// Returns a text with its first letter in upper case.
pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns a name as a title: `get_weather` becomes `Get Weather`.
pub(super) fn humanized(name: &str) -> String {
    let words: Vec<String> = words(name).iter().map(|word| capitalized(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        for (name, snake) in [
            ("getUser", "get_user"),
            ("admin.tools.list", "admin_tools_list"),
            ("HTTPGet2", "http_get2"),
            ("get_weather", "get_weather"),
            ("a--b", "a_b"),
            ("parseURLNow", "parse_url_now"),
            ("x2Y", "x2_y"),
            ("_a", "a"),
        ] {
            assert_eq!(snake_case(name).as_deref(), Ok(snake));
        }
        for name in ["2fa", "検索", "", "---", "Ünit"] {
            assert!(snake_case(name).is_err(), "{name}");
        }
        assert_eq!(humanized("get_weather"), "Get Weather");
        assert_eq!(humanized("élan vital"), "Élan Vital");
        assert!(!is_snake_case("a_") && !is_snake_case("a__b") && !is_snake_case("2a") && is_snake_case("a2_3"));
        assert!(!is_mcp_name("a b") && !is_mcp_name(&"a".repeat(129)) && is_mcp_name("A.b-c_1"));
    }
}
