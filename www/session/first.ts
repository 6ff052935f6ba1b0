// The session of a page that nobody has touched.

/** Tokens of a call, small enough that something has to be cut. */
export const FIRST_BUDGET = 8_000;
/** Its log names no model: the prices of this one are taken. */
export const FIRST_MODEL = "gpt-5";
