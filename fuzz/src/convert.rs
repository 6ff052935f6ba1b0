//! What crosses to providers and MCP.

use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use contextweaver_convert::providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
use contextweaver_convert::tools::validate_args;
use serde_json::Value;

use crate::bytes::Bytes;

/// What one format reads, all can write, and each reads again what it wrote.
pub fn messages(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    for format in Format::ALL {
        let options = ReadOptions { id_prefix: "m:".into(), ..ReadOptions::default() };
        let Ok(read) = messages_to_items(value.clone(), *format, &options) else { continue };
        for other in Format::ALL {
            let written = items_to_messages(&read.items, *other, &WriteOptions::default());
            let Ok(written) = written else { panic!("{} of {} cannot be written", other.as_str(), format.as_str()) };
            let options = ReadOptions { system: written.system.clone(), ..options.clone() };
            let again = messages_to_items(Value::Array(written.messages.clone()), *other, &options);
            if let Err(error) = again {
                panic!("{} of {}: {error}: {:?}", other.as_str(), format.as_str(), written.messages);
            }
        }
    }
}

/// A result becomes an envelope or a coded error, the same each time.
pub fn mcp_results(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let options = McpResultOptions::default();
    let convert = || mcp_result_to_envelope(&value, "tool", &options);
    let (Ok(first), Ok(second)) = (convert(), convert()) else { return };
    assert_eq!(first.envelope, second.envelope, "{value}");
    assert_eq!(first.full_text, second.full_text, "{value}");
    let kept: usize = first.binaries.iter().map(|binary| binary.bytes.len()).sum();
    assert!(kept <= options.max_bytes, "{kept} bytes of {}", options.max_bytes);
}

/// A value fits a schema or is told where it does not, at most ten times; defaults make no fitting value unfit.
pub fn schema(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Ok(schema) = serde_json::from_str::<Value>(&bytes.line()) else { return };
    let Ok(value) = serde_json::from_str::<Value>(&bytes.text()) else { return };
    for use_defaults in [false, true] {
        let Ok(found) = validate_args(&schema, "/schema", &value, use_defaults) else { continue };
        assert_eq!(found.valid, found.errors.is_empty(), "{schema} {value}");
        assert!(found.errors.len() <= 10, "{schema} {value}");
        for failure in &found.errors {
            assert!(failure.path.is_empty() || failure.path.starts_with('/'), "{}", failure.path);
        }
    }
}
