//! Journals of records that only the host knows: their parts, written and read.

use serde_json::{Value, json};

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::journal::{Journal, JournalBatch, JournalEnd, JournalFinding};
use contextweaver_model::json::{self, Fields};

/// Writes `{"kind", "cursor"?, "whole", "part_bytes"?, "records": [...]}`: a line of JSON that says where the journal ends,
/// then the parts, a line each.
pub fn write(arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse_snapshot(arguments)?, "")?;
    let kind = fields.string("kind")?;
    let cursor = fields.opt_string("cursor")?;
    let mut end = cursor
        .map_or(Some(JournalEnd::default()), |text| JournalEnd::parse(&text))
        .ok_or_else(|| Error::new(ErrorCode::InvalidInput, "no cursor of a journal of records").at("/cursor"))?;
    let whole = fields.bool_or("whole", false)?;
    let part_bytes = fields.uint_or("part_bytes", limits::JOURNAL_PART_BYTES as u64, limits::MAX_PART_BYTES as u64)?;
    let changes = fields.list("records")?.iter().map(Value::to_string).collect();
    fields.finish()?;
    let batch = JournalBatch { kind: &kind, whole, settings: None, changes, counts: &[] };
    let parts = batch.write(&mut end, (part_bytes as usize).max(limits::MIN_PART_BYTES));
    let head = json!({ "cursor": end.to_string() }).to_string();
    Ok([vec![head], parts].concat().join("\n"))
}

/// Reads parts, a line each: the records in their order, where the journal ends, and what of it could not be read.
pub fn read(kind: &str, parts: &str) -> Result<String> {
    let Journal { changes, end, findings, .. } = Journal::read(parts, kind)?;
    let records: Vec<Value> = changes.into_iter().map(|change| change.value).collect();
    let findings: Vec<Value> = findings.iter().map(finding).collect();
    Ok(json!({ "records": records, "cursor": end.to_string(), "findings": findings }).to_string())
}

/// Writes what could not be read, for the host.
pub fn finding(finding: &JournalFinding) -> Value {
    let error = super::error_record(&finding.error);
    json!({ "part": finding.part, "code": error["code"], "message": error["message"] })
}
