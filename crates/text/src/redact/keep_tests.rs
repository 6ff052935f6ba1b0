//! What is left alone, in texts and in values.
#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use super::chars::STEPS;
use super::*;

const M: &str = SECRET_MASK;
const HEX: &str = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0";

fn for_model(fields: &[&str]) -> Keep {
    let fields: Vec<String> = fields.iter().map(|&field| field.to_owned()).collect();
    Keep::for_model(&fields, "/except").unwrap()
}

/// Writes `S` for a value and the mask as `#`, and checks what becomes of each text on its way to a model and elsewhere.
fn check(keep: &Keep, rows: &[(&str, &str)]) {
    for &(text, wanted) in rows {
        let (text, wanted) = (text.replace("$S", HEX), wanted.replace("$S", HEX).replace('#', M));
        let shown = redact_keeping(&text, M, keep);
        assert_eq!(shown, wanted, "input {text}");
        assert_eq!(redact_keeping(&shown, M, keep), wanted, "twice {text}");
        assert!(!redact_secrets(&text, M).contains(HEX), "not for a model: {text}");
    }
}

#[test]
fn signatures_of_addresses_reach_the_model() {
    let aws = "AKIAABCDEFGHIJKLMNOP%2F20260101%2Feu-west-1%2Fs3%2Faws4_request";
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJ1cmwiOiJiIn0.$S";
    #[rustfmt::skip]
    let addresses = [
        format!("https://b.s3.amazonaws.com/a.png?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={aws}&X-Amz-Signature=$S"),
        "https://a.r2.cloudflarestorage.com/b?X-Amz-Expires=900&X-Amz-Security-Token=$S&X-Amz-Signature=$S".to_owned(),
        "https://storage.googleapis.com/b/a.png?X-Goog-Algorithm=GOOG4&X-Goog-Signature=$S".to_owned(),
        "https://a.blob.core.windows.net/c/a.png?sv=2022-11-02&sr=b&sp=r&sig=$S%3D".to_owned(),
        format!("https://p.supabase.co/storage/v1/object/upload/sign/b/a.png?token={jwt}"),
        "https://firebasestorage.googleapis.com/v0/b/p/o/a.png?alt=media&token=$S".to_owned(),
        "https://d1.cloudfront.net/a.png?Expires=1767225600&token=$S&Signature=x&Key-Pair-Id=K2JCJMDEHXQW5F".to_owned(),
        format!("https://private-user-images.githubusercontent.com/1/a.png?jwt={jwt}"),
    ];
    for address in addresses {
        #[rustfmt::skip]
        let places = [
            "U", "PUT it to U now", "{\"upload_url\":\"U\",\"n\":1}", "{\\\"upload_url\\\":\\\"U\\\"}", "<a href=\"U\">", "(see U)", "url: U\nnext: x",
        ];
        for place in places {
            let text = place.replace('U', &address);
            check(&for_model(&[]), &[(&text, &text)]);
        }
        let escaped = format!("{{\"u\":\"{}\"}}", address.replace('&', "\\u0026").replace('/', "\\/"));
        check(&for_model(&[]), &[(&escaped, &escaped)]);
        let more = format!("{address}&password=hunter2222&x=1");
        check(&for_model(&[]), &[(&more, &more.replace("hunter2222", "#"))]);
        let inside = format!("https://bob:hunter2222@{}", &address["https://".len()..]);
        check(&for_model(&[]), &[(&inside, &inside.replace("hunter2222", "#"))]);
    }
    // An address with a key of a service is none that was signed.
    check(
        &for_model(&[]),
        &[
            ("https://h/a?token=$S&page=2", "https://h/a?token=#&page=2"),
            ("https://h/a?sig=$S", "https://h/a?sig=#"),
            ("X-Amz-Signature=x password=$S", "X-Amz-Signature=x password=#"),
        ],
    );
}

#[test]
fn tokens_against_forged_requests_reach_the_model() {
    check(
        &for_model(&[]),
        &[
            ("{\"csrf_token\":\"$S\",\"token\":\"$S\"}", "{\"csrf_token\":\"$S\",\"token\":\"#\"}"),
            ("X-CSRF-Token: $S", "X-CSRF-Token: $S"),
            (
                "<input name=\"_token\" type=\"hidden\" value=\"$S\">",
                "<input name=\"_token\" type=\"hidden\" value=\"$S\">",
            ),
            (
                "{\"name\":\"authenticity_token\",\"value\":\"$S\"}",
                "{\"name\":\"authenticity_token\",\"value\":\"$S\"}",
            ),
            ("csrfToken=$S&api_key=$S", "csrfToken=$S&api_key=#"),
        ],
    );
}

#[test]
fn exempted_fields_stay() {
    let text =
        "{\"a\":{\"token\":\"$S\",\"list\":[{\"key\":\"password=hunter22\"}]},\"b\":{\"token\":\"$S\"},\"other\":1}";
    for (field, wanted) in [
        (
            "a.token",
            "{\"a\":{\"token\":\"$S\",\"list\":[{\"key\":\"password=#\"}]},\"b\":{\"token\":\"#\"},\"other\":1}",
        ),
        (
            "/A/*",
            "{\"a\":{\"token\":\"$S\",\"list\":[{\"key\":\"password=hunter22\"}]},\"b\":{\"token\":\"#\"},\"other\":1}",
        ),
        (
            "tok?n",
            "{\"a\":{\"token\":\"$S\",\"list\":[{\"key\":\"password=#\"}]},\"b\":{\"token\":\"$S\"},\"other\":1}",
        ),
        (
            "list.key",
            "{\"a\":{\"token\":\"#\",\"list\":[{\"key\":\"password=hunter22\"}]},\"b\":{\"token\":\"#\"},\"other\":1}",
        ),
    ] {
        let keep = for_model(&[field]);
        check(&keep, &[(text, wanted)]);
        let value: Value = serde_json::from_str(&text.replace("$S", HEX)).unwrap();
        let shown = redact_value_keeping(&value, M, &keep);
        assert_eq!(shown.to_string(), wanted.replace("$S", HEX).replace('#', M));
    }
    check(
        &for_model(&["token"]),
        &[
            ("token: $S\npassword: hunter2222", "token: $S\npassword: #"),
            ("text \\\"token\\\": \\\"$S\\\"", "text \\\"token\\\": \\\"$S\\\""),
        ],
    );
    for (fields, path) in [(vec!["ok", ""], "/except/1"), (vec!["a..b"], "/except/0"), (vec!["a"; 101], "/except")] {
        let fields: Vec<String> = fields.into_iter().map(str::to_owned).collect();
        assert_eq!(Keep::for_model(&fields, "/except").unwrap_err().path(), path);
    }
}

#[test]
fn what_stays_is_found_in_linear_time() {
    let keep = for_model(&["a.b", "tok*"]);
    #[rustfmt::skip]
    let pieces = [
        "https://", "//", "https://h/?", "https://h/?a=", "a=&", "https://h/?X-Amz-Signature=a&", "token=", "token: ", "\"token\":", "{\"a\":", "[", "{", "\"",
        "\\", "name=\"token\" value=\"", "value: ", ":", "=", " :", "csrf=\"", "_token=", "?", "://", "{\"b\":\"", "\\u0026", "&amp;", "password=hunter22 ",
    ];
    for piece in pieces {
        for head in ["", "{ password=hunter22 "] {
            let cost = |size: usize| {
                let text = format!("{head}{}", piece.repeat(size / piece.len()));
                STEPS.with(|steps| steps.set(0));
                let _ = redact_keeping(&text, M, &keep);
                STEPS.with(std::cell::Cell::get) as f64 / text.len() as f64
            };
            let (one, four) = (cost(1 << 15), cost(1 << 17));
            assert!(four < one * 1.2 + 1.0, "{head}{piece:?}: {one} grew to {four}");
        }
    }
}
