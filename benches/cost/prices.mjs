// What a call costs, in tokens of input at full price. Answers are left out: every strategy has the same.

/** The least prefix that a provider keeps, in tokens. */
const LEAST = 1024;
/** OpenAI reads repeated prefixes in steps of so many tokens. */
const STEP = 128;
/** The share of the full price that a repeated token costs. */
const READ = 0.1;
/** What Anthropic takes for a token that is written into its cache. */
const WRITE = 1.25;

/** Each takes the tokens of a prompt and what it repeats of the one before it (`repeats` of prompt.mjs). */
export const PRICES = {
  /** Any beginning that is the same, in steps; writing is free. */
  openai(tokens, { characters }) {
    const same = Math.floor(characters / 4);
    const read = same < LEAST ? 0 : Math.floor(same / STEP) * STEP;
    return tokens - read + READ * read;
  },
  /** Whole messages; what is not read is written. */
  anthropic(tokens, { whole }) {
    const read = whole < LEAST ? 0 : whole;
    return WRITE * (tokens - read) + READ * read;
  },
};
