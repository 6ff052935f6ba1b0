//! The three headers of the World Wide Web Consortium that tell where a call belongs: names that `_meta` has without a
//! prefix, for values of these forms only.

/// Longest `tracestate`, in bytes.
const MAX_TRACESTATE_BYTES: usize = 512;
/// Most members of a `tracestate`.
const MAX_TRACESTATE_MEMBERS: usize = 32;
/// Longest `baggage`, in bytes.
const MAX_BAGGAGE_BYTES: usize = 8192;
/// Most members of a `baggage`.
const MAX_BAGGAGE_MEMBERS: usize = 180;
/// Longest key of a member of a `tracestate`, and longest value.
const MAX_MEMBER_BYTES: usize = 256;

/// Tells whether a key is one of the three; if so, whether the text has its form.
pub fn check(key: &str, text: Option<&str>) -> Option<bool> {
    let fits: fn(&str) -> bool = match key {
        "traceparent" => is_traceparent,
        "tracestate" => is_tracestate,
        "baggage" => is_baggage,
        _ => return None,
    };
    Some(text.is_some_and(fits))
}

/// `00-<trace>-<span>-<flags>`, in small hexadecimal digits, neither of the two all zeros.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id = |text: &str, digits: usize| hex(text, digits) && text.bytes().any(|byte| byte != b'0');
    matches!(parts[..], ["00", trace, span, flags] if is_id(trace, 32) && is_id(span, 16) && hex(flags, 2))
}

/// Members `key=value` between commas, each key once.
fn is_tracestate(text: &str) -> bool {
    let members: Vec<&str> = text.split(',').map(trim).filter(|member| !member.is_empty()).collect();
    let keys: Vec<&str> = members.iter().filter_map(|member| member.split_once('=')).map(|(key, _)| key).collect();
    let differ = |(at, key): (usize, &&str)| !keys[..at].contains(key);
    (1..=MAX_TRACESTATE_BYTES).contains(&text.len())
        && (1..=MAX_TRACESTATE_MEMBERS).contains(&members.len())
        && members.iter().all(|member| member.split_once('=').is_some_and(|(key, value)| is_state(key, value)))
        && keys.iter().enumerate().all(differ)
}

fn is_state(key: &str, value: &str) -> bool {
    let inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/');
    let is_name = |text: &str| {
        text.starts_with(|ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit()) && text.bytes().all(inner)
    };
    let is_key = key.len() <= MAX_MEMBER_BYTES
        && match key.split_once('@') {
            None => is_name(key),
            Some((tenant, system)) => is_name(tenant) && is_name(system) && tenant.len() <= 241 && system.len() <= 14,
        };
    let is_value = (1..=MAX_MEMBER_BYTES).contains(&value.len())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'='))
        && !value.ends_with(' ');
    is_key && is_value
}

/// Members `key=value;property;key=value` between commas.
fn is_baggage(text: &str) -> bool {
    let members: Vec<&str> = text.split(',').collect();
    (1..=MAX_BAGGAGE_BYTES).contains(&text.len())
        && members.len() <= MAX_BAGGAGE_MEMBERS
        && members.iter().all(|member| {
            let mut parts = member.split(';');
            let is_pair =
                |part: &str| part.split_once('=').is_some_and(|(key, value)| is_token(key) && is_value(value));
            parts.next().is_some_and(is_pair) && parts.all(|part| is_pair(part) || is_token(part))
        })
}

fn is_token(text: &str) -> bool {
    let text = trim(text);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_value(text: &str) -> bool {
    trim(text).bytes().all(|byte| matches!(byte, b'!'..=b'~') && !matches!(byte, b'"' | b',' | b';' | b'\\'))
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_of_the_standard() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let parent = format!("00-{trace}-{span}-01");
        let long = |count: usize| (0..count).map(|at| format!("k{at}=v")).collect::<Vec<_>>().join(",");
        for (key, text, fits) in [
            ("traceparent", parent.clone(), true),
            ("traceparent", parent.to_uppercase(), false),
            ("traceparent", parent.replacen("00", "01", 1), false),
            ("traceparent", parent.replace(trace, &"0".repeat(32)), false),
            ("traceparent", parent.replace(span, &"0".repeat(16)), false),
            ("traceparent", parent.clone() + "-00", false),
            ("traceparent", parent.replace(span, "00f067aa0ba902b"), false),
            ("traceparent", parent.clone() + "\n", false),
            ("traceparent", parent.replace("01", "é"), false),
            ("traceparent", String::new(), false),
            ("tracestate", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE".into(), true),
            ("tracestate", "fw529a3039@dt=FfhUhNXHO, a=b c".into(), true),
            ("tracestate", "a=1,a=2".into(), false),
            ("tracestate", "A=1".into(), false),
            ("tracestate", "a=".into(), false),
            ("tracestate", "a=b=c".into(), false),
            ("tracestate", "a".into(), false),
            ("tracestate", "a=é".into(), false),
            ("tracestate", long(32), true),
            ("tracestate", long(33), false),
            ("tracestate", format!("a={}", "v".repeat(257)), false),
            ("tracestate", " , ".into(), false),
            ("baggage", "userId=alice,serverNode=DF%2028,isProduction=false".into(), true),
            ("baggage", "key1 = value1 ; property1;property2 = x, key2=".into(), true),
            ("baggage", "key1".into(), false),
            ("baggage", "key 1=a".into(), false),
            ("baggage", "a=\"b\"".into(), false),
            ("baggage", "a=é".into(), false),
            ("baggage", "a=b,".into(), false),
            ("baggage", String::new(), false),
            ("baggage", long(180), true),
            ("baggage", long(181), false),
            ("baggage", format!("a={}", "v".repeat(8192)), false),
        ] {
            assert_eq!(check(key, Some(&text)), Some(fits), "{key}: {text}");
        }
        assert_eq!(check("traceparent", None), Some(false));
        assert_eq!(check("tenantId", Some("x")), None);
    }
}
