// How much of a result a client gets, where nobody says it.

/**
 * Tokens of a result that clients get whose context nobody has named: over recorded steps (`benches/gate.mjs`) as many as the first and
 * the last 500 tokens of each result come to, with more of what the next call copies.
 */
export const RESULT_TOKENS = 1_150;
