//! Every constant and default of the crate, named, with the reason for its value.
//!
//! | Limit | Default | Unit |
//! |---|---:|---|
//! | [`MAX_DEPTH`] | 64 | nested arrays and objects |
//! | [`MAX_STRING_BYTES`] | 8 MiB | UTF-8 bytes of one string |
//! | [`MAX_INPUT_BYTES`] | 32 MiB | UTF-8 bytes of one JSON argument |
//! | [`MAX_SNAPSHOT_BYTES`] | 256 MiB | UTF-8 bytes of one snapshot |
//! | [`MAX_ITEMS`] | 100,000 | items of one event log |
//! | [`MAX_ARTIFACT_BYTES`] | 16 MiB | one artifact |
//! | [`MAX_STORE_BYTES`] | 64 MiB | all artifacts of one store |
//! | [`MAX_ARTIFACTS`] | 100,000 | artifacts of one store |
//! | [`MAX_BUDGET_TOKENS`] | 16,777,216 | tokens of one prompt |
//! | [`MAX_TOKEN_ESTIMATE`] | 16,777,216 | tokens of one item |
//! | [`MAX_MEMORY_ENTRIES`] | 10,000 | facts, and episodes, of one store |
//! | [`MAX_RULES`] | 1,000 | standing instructions that the caller of one manager added, corrected or forgot |
//! | [`MCP_RESULT_BYTES`] | 16 MiB | everything one MCP result unpacks to |
//! | [`MCP_PARTS`] | 1,000 | content parts of one MCP result |
//! | [`MAX_LISTING_BYTES`] | 16 MiB | UTF-8 bytes of what one MCP server lists |
//! | [`MAX_SERVER_TOOLS`] | 10,000 | tools of one MCP server |
//! | [`MAX_GATEWAY_SESSIONS`] | 4,096 | sessions of one gateway |
//! | [`MAX_PATTERN_BYTES`] | 1,024 | UTF-8 bytes of one pattern |
//! | [`MAX_SEARCH_STEPS`] | 33,554,432 | steps of one search, of choosing rows and columns, of all rules of one check |
//! | [`MAX_RECALL_BYTES`] | 8 MiB | UTF-8 bytes of the texts that one recall reads, the likeliest first |
//! | [`LEDGER_TOKENS`] | 240 | tokens of the ledger in a prompt, and a fiftieth of the budget, a twenty-fifth in a running one |
//! | [`LEDGER_BUDGET`] | 4,000 | tokens of a budget from which on a prompt has a ledger by default |
//! | [`LEDGER_IDENTIFIERS`] | 64 | identifiers that it names |
//! | [`MAX_SCHEMA_STEPS`] | 33,554,432 | steps of checking one value against a schema |
//! | [`MAX_REWRITE_STEPS`] | 50,000 | values copied while one schema is rewritten for a provider |

/// Nesting accepted in metadata and other caller-shaped data; deeper input is refused, never walked.
pub const MAX_DEPTH: usize = 64;
/// Values of one JSON text that is looked into; a larger one is treated as plain text. Twenty bytes each while it lasts.
pub const MAX_NODES: usize = 2_000_000;
/// Bytes of one string; larger content belongs into the artifact store.
pub const MAX_STRING_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of one JSON argument, so that a single call cannot exhaust a 128 MiB isolate.
pub const MAX_INPUT_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of a snapshot: a full artifact store in base64, and the log.
pub const MAX_SNAPSHOT_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of one part of a journal: about what a turn writes, and far below the 2 MB of a row in a Durable Object.
pub const JOURNAL_PART_BYTES: usize = 256 * 1024;
/// Bytes that a part of a journal may be limited to.
pub const MIN_PART_BYTES: usize = 4 * 1024;
/// Bytes that a part of a journal may have.
pub const MAX_PART_BYTES: usize = 1024 * 1024;
/// Bytes of an artifact that stands in a part; a larger one is kept beside the journal, by its hash.
pub const JOURNAL_INLINE_BYTES: usize = 8 * 1024;
/// Bytes of a pattern.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// Instructions that a pattern may become; repetitions are written out.
pub const MAX_PATTERN_PROGRAM: usize = 4096;
/// Steps of one search: a character in a state that is known, or an instruction that is visited to find a new state.
/// Room for 16 MiB of text, or for a fifth of a second of the patterns that are worst. The same for the conditions and the
/// columns of rows, and for all rules that judge one action.
pub const MAX_SEARCH_STEPS: u64 = 1 << 25;
/// Values of the JSON Schema of a tool.
pub const MAX_SCHEMA_NODES: usize = 10_000;
/// Bytes of the JSON text of such a schema.
pub const MAX_SCHEMA_BYTES: usize = 1024 * 1024;
/// Steps of checking one value against a schema, patterns and defaults among them: alternatives in alternatives could go
/// on for ever. Room for about a million values that each meet one schema.
pub const MAX_SCHEMA_STEPS: u64 = 1 << 25;
/// Steps of copying what a `$ref` leads to and what stands beside alternatives, while a schema is rewritten for a provider:
/// a value is one, and so are 64 bytes of text. A small schema may name a large part of itself a thousand times; what is
/// beyond is left open. Room for five times the values of the largest schema.
pub const MAX_REWRITE_STEPS: u64 = 50_000;
/// Bytes of the paths of changes that one rewritten schema reports one by one: a key may be as long as the schema, and
/// stands in the paths of all that is below it.
pub const MAX_REPORTED_BYTES: usize = 1 << 22;
/// Bytes that the patterns of a schema may take while a value is checked; beyond them they are prepared anew.
pub const MAX_MATCHER_BYTES: usize = 16 * 1024 * 1024;
/// Schemas applied within each other while a value is checked; a value nests 64 levels.
pub const MAX_SCHEMA_DEPTH: usize = 400;
/// Differences named when a value does not fit its schema.
pub const MAX_SCHEMA_FAILURES: usize = 10;
/// Milliseconds a tool may run unless its definition says otherwise.
pub const TOOL_TIMEOUT_MS: u64 = 15_000;
/// Longest time of a tool: timers of JavaScript go off at once beyond it.
pub const MAX_TOOL_TIMEOUT_MS: u64 = (1 << 31) - 1;
/// Items of one event log.
pub const MAX_ITEMS: usize = 100_000;
/// Bytes of one artifact.
pub const MAX_ARTIFACT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of all artifacts of one store; a full store is an error, never a silent eviction.
pub const MAX_STORE_BYTES: usize = 64 * 1024 * 1024;
/// Artifacts of one store.
pub const MAX_ARTIFACTS: usize = 100_000;
/// Artifacts that expired or were evicted whose handles are remembered, to say so.
pub const MAX_TOMBSTONES: usize = 10_000;
/// Seconds an artifact may be given to live: some thirty thousand years, so that sums of times stay exact.
pub const MAX_TTL_SECONDS: f64 = 1e12;
/// Largest budget of one phase.
pub const MAX_BUDGET_TOKENS: u64 = 1 << 24;
/// Tokens that a provider puts around a message: `OpenAI` documents three for its chat format and one for a name, others
/// document none and are near it.
pub const MESSAGE_TOKENS: u64 = 4;
/// Tokens around a tool call and around a tool result, beside those of the message: providers write them into their
/// prompts in a form of their own that none documents, as JSON or tags of about the size of a message's frame.
pub const TOOL_PART_TOKENS: u64 = 4;
/// Largest stored token estimate of one item.
pub const MAX_TOKEN_ESTIMATE: u64 = 1 << 24;
/// Calls of a model from which its calibration is made: a session's texts change, and what was long ago says less of them.
pub const CALIBRATED_CALLS: usize = 16;
/// Models of one session that are calibrated.
pub const CALIBRATED_MODELS: usize = 16;
/// Least and most that an estimate is scaled to, in hundredths. Of 25 classes of text the one that is estimated worst needs 230,
/// base64; what is beyond was no count of the same texts.
pub const MIN_CALIBRATION_PERCENT: u64 = 40;
/// See [`MIN_CALIBRATION_PERCENT`].
pub const MAX_CALIBRATION_PERCENT: u64 = 250;
/// Facts of one fact store, and episodes of one episodic store.
pub const MAX_MEMORY_ENTRIES: usize = 10_000;
/// Standing instructions of a manager that its caller added, corrected or forgot.
pub const MAX_RULES: usize = 1_000;
/// End of the numbers that count facts: whole numbers up to here are exact in JavaScript.
pub const MAX_SEQUENCE: u64 = 1 << 53;

/// Results above this many tokens are kept out of the prompt as a whole: the artifact keeps the bytes,
/// the prompt gets a summary or an excerpt. About 2,000 characters of English, the threshold of 0.18.
pub const FIREWALL_THRESHOLD_TOKENS: u64 = 500;
/// Tokens of the summary that stands for a large result.
pub const SUMMARY_TOKENS: u64 = 160;
/// Newest results since the last user turn, which a store evicts last.
pub const LIVE_HANDLES: usize = 16;
/// Results handed out at a time for a summary, with their texts.
pub const SUMMARY_REQUESTS: u64 = 16;
/// Facts of one envelope that the caller's summarizer may give.
pub const MAX_FACTS: usize = 256;
/// Characters of the default summary of 0.18.
pub const SUMMARY_CHARS: usize = 500;

/// Newest episodes shown in the prompt's header.
pub const HEADER_EPISODES: usize = 3;
/// Characters of one episode or fact line in the header (0.18 has no cap on episodes).
pub const HEADER_LINE_CHARS: usize = 400;
/// Facts shown in the prompt's header.
pub const HEADER_FACTS: usize = 64;
/// Characters of the fact section, as in 0.18.
pub const HEADER_FACT_CHARS: usize = 2000;

/// Episodes a search returns.
pub const SEARCH_EPISODES: u64 = 5;

/// Words of a query that are looked for; who pastes a document means its beginning.
pub const MAX_QUERY_WORDS: usize = 512;

/// Items of one kind in one prompt by the policy of a profile, as in 0.18.
pub const PROFILE_ITEMS_PER_KIND: usize = 50;

/// Tokens of a session handoff.
pub const HANDOFF_TOKENS: u64 = 1500;

/// Tokens of what a recall answers.
pub const RECALL_TOKENS: u64 = 300;
/// Most tokens of the ledger in a prompt; below that it may have a fiftieth of the budget, in a running one a twenty-fifth.
pub const LEDGER_TOKENS: u64 = 240;
/// Tokens of a budget from which on a prompt has a ledger unless it is switched off: below, its room costs answers.
pub const LEDGER_BUDGET: u64 = 4000;
/// Identifiers that a ledger names at most.
pub const LEDGER_IDENTIFIERS: usize = 64;
/// Bytes of the texts that one recall reads: masked, taken apart and compared, they take half a second.
pub const MAX_RECALL_BYTES: usize = 8 << 20;

/// Times one call may come back with questions for the caller's functions before it is given up.
pub const MAX_CALLBACK_ROUNDS: u32 = 64;

/// Bytes that one MCP result may unpack to, decoded and as text.
pub const MCP_RESULT_BYTES: usize = 16 * 1024 * 1024;
/// Content parts of one MCP result that are read one by one; what follows is kept as a whole.
pub const MCP_PARTS: usize = 1000;
/// Bytes of JSON that a server may put into the provenance of one result: annotations, metadata, states.
pub const MCP_NOTE_BYTES: usize = 16 * 1024;
/// Keys of structured content that become lines and facts.
pub const MCP_FACT_KEYS: usize = 100;
/// Facts of one MCP result up to which lines of its text are looked at, as in 0.18.
pub const MCP_FACTS: usize = 20;
/// Characters that a fact, or a value that becomes a line, must stay below, as in 0.18.
pub const MCP_FACT_CHARS: usize = 200;
/// Characters of the address of a resource link that a model is shown; browsers and servers take about as many.
pub const MCP_URI_CHARS: usize = 2_000;
/// Warnings of one MCP result that its provenance repeats.
pub const MCP_WARNINGS: usize = 20;

/// Bytes of everything that one MCP server lists; a larger listing is refused before it is parsed. The largest of a public
/// server that was seen has 0.6 MB.
pub const MAX_LISTING_BYTES: usize = 16 * 1024 * 1024;
/// Servers behind one gateway.
pub const MAX_GATEWAY_SERVERS: usize = 1_000;
/// Tools that one server may list; those beyond are reported and left out. The same for its resources, templates and prompts.
pub const MAX_SERVER_TOOLS: usize = 10_000;
/// Digests that are kept of tools which a server does not list any more, to know them when they come back.
pub const MAX_GONE_PINS: usize = 10_000;
/// Sessions a gateway knows at a time; the one that was idle longest is forgotten.
pub const MAX_GATEWAY_SESSIONS: usize = 4_096;
/// Handles of one session whose tool is known; the oldest is forgotten.
pub const MAX_SESSION_HANDLES: usize = 4_096;
/// Bytes of results that a gateway keeps for all sessions together, to answer the same call again.
pub const MAX_KEPT_RESULTS: u64 = 64 * 1024 * 1024;
/// Calls of a gateway that wait for a server or for a user.
pub const MAX_OPEN_CALLS: usize = 16_384;
/// Changes of the meaning of a shown name that a gateway remembers, for clients that have not listed since.
pub const MAX_NAME_CHANGES: usize = 20_000;
/// Characters of the name of a tool in MCP.
pub const MCP_NAME_CHARS: usize = 128;
/// Where a running prompt stands between keeping what it can (0) and saving what it can (1), where the caller does not say.
pub const THRIFT: f64 = 0.5;
