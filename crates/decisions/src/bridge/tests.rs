use super::*;

#[test]
fn texts_lose_what_holds_once() {
    let cases = [
        (
            "Increased timeout from 30s to 60 seconds in src/api/client.py (PR #42)",
            "Adjusted timeout from N time-units to N time-units in a file (a PR)",
        ),
        ("see #42 (#43) []", "see"),
        ("PR 42, pr#7 and PRs 3", "a PR, a PR and PRs N"),
        ("a 512 MB cache of 10 bytes, 4kb", "a N size-units cache of N size-units, N size-units"),
        ("v1.2 and 1.2.3 since 2026-03-15", "vX.Y and vX.Y since DATE"),
        ("ipv4 x2 utf8 2nd", "ipv4 x2 utf8 2nd"),
        ("the `foo_bar` of DataStore and PostgreSQL", "the a component of a component and PostgreSQL"),
        ("moved. Renamed! added", "relocated. Relabeled! introduced"),
        ("a  b\n\tc", "a b c"),
        ("`open", "`open"),
        ("é1 日本2 café/x.rs", "é1 日本2 café/x.rs"),
        ("1.5s and 3 hours", "N time-units and N time-units"),
        ("", ""),
    ];
    for (text, wanted) in cases {
        assert_eq!(general(text), wanted, "{text}");
    }
}

#[test]
fn repeated_openings_find_nothing_and_repeated_numbers_each_their_name() {
    for (piece, wanted) in
        [("`", "`"), ("(", "("), ("[ ", "[ "), ("a/", "a/"), ("PR #", "PR #"), ("#", "#"), ("1 ", "N "), ("1. ", "N. ")]
    {
        let times = 16_384 / piece.len();
        assert_eq!(general(&piece.repeat(times)), wanted.repeat(times).trim_end(), "{piece:?}");
    }
    assert_eq!(general(&"Aa".repeat(8192)), "a component");
}

#[test]
fn sentences_end_at_marks_with_space() {
    let parts = |text| sentences(text).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(parts("a. b! c.d"), ["a", " b", " c.d"]);
    assert_eq!(parts("end."), ["end."]);
    assert_eq!(parts(""), [""]);
}
