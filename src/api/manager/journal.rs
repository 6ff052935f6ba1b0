//! Journals of a manager.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::operation::Effect::{Changes, Replaces};
use super::super::operation::{Beside, Operation};
use super::super::{done, write};
use super::{new_manager, nothing, one};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::{ContextManager, JournalOptions, RestoredJournal};
use contextweaver_model::json::{self, Fields};

pub(super) const OPERATIONS: &[Operation<ContextManager>] = &[
    Operation::silent("keep_journal", Changes, |manager, arguments| {
        nothing(arguments)?;
        manager.keep_journal();
        Ok(())
    }),
    Operation::beside("reload_artifact", Replaces, reload_artifact),
];

/// Returns what changed since a cursor: a line of JSON that says where the journal ends, then the parts, a line each.
pub fn export(manager: &ContextManager, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    let cursor = fields.opt_string("cursor")?;
    let most = limits::MAX_ARTIFACT_BYTES as u64;
    let options = JournalOptions {
        part_bytes: fields.uint_or("part_bytes", limits::JOURNAL_PART_BYTES as u64, u64::MAX)? as usize,
        inline_bytes: fields.uint_or("inline_bytes", limits::JOURNAL_INLINE_BYTES as u64, most)? as usize,
        whole: fields.bool_or("whole", false)?,
        first: fields.uint_or("first", 0, limits::MAX_SEQUENCE)?,
        settings: fields.opt_object("settings")?.map(|settings| Value::Object(settings).to_string()),
    };
    fields.finish()?;
    let exported = manager.export_since(cursor.as_deref(), &options)?;
    let mut text = write(&exported)?;
    for part in exported.parts {
        text.push('\n');
        text.push_str(&part);
    }
    Ok(text)
}

/// Makes a manager of parts, a line each, and of the blobs that are there, by their hashes: with a record of how far that
/// went.
pub fn restore(parts: &str, options: &str, hashes: &str, blobs: &[Vec<u8>]) -> Result<(ContextManager, String)> {
    let hashes: Vec<String> = serde_json::from_str(hashes)
        .map_err(|error| Error::new(ErrorCode::DecodeFailed, format!("no list of hashes: {error}")))?;
    let given: HashMap<&str, &[u8]> = hashes.iter().map(String::as_str).zip(blobs.iter().map(Vec::as_slice)).collect();
    let blob = |hash: &str| given.get(hash).copied();
    let restored = new_manager(options)?.restored_journal(parts, blob)?;
    let RestoredJournal { manager, cursor, findings, missing_blobs } = restored;
    let findings: Vec<_> = findings.iter().map(super::super::records::finding).collect();
    let missing_blobs: Vec<Value> = missing_blobs.into_iter().map(Into::into).collect();
    let report = json!({ "cursor": cursor, "findings": findings, "missing_blobs": missing_blobs });
    Ok((manager, report.to_string()))
}

/// Returns the bytes that a journal refers to; that is no use of an artifact.
pub fn blob(manager: &ContextManager, hash: &str) -> Result<Vec<u8>> {
    let artifacts = manager.artifacts();
    let known = artifacts.list().find(|known| known.content_hash == hash);
    let bytes = known.and_then(|known| artifacts.peek(&known.handle));
    bytes.map(<[u8]>::to_vec).ok_or_else(|| {
        Error::new(ErrorCode::ArtifactNotFound, "no artifact has these bytes any more")
            .hint("take the bytes before the manager is changed")
    })
}

/// Puts bytes back under a handle whose bytes are not here.
fn reload_artifact(manager: &mut ContextManager, arguments: Value, beside: Beside) -> Result<String> {
    manager.reload_artifact(&one(arguments, "handle")?, &beside.into_first())?;
    done(&json!({}))
}
