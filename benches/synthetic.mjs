// The synthetic log of the timings: user, agent, call, result repeating, 40 random words each from 2,000 words.
// No two items are alike, which is the worst case for whatever looks for repeats.

const VOCABULARY = 2000;
const WORDS_PER_ITEM = 40;
const KINDS = ["user_turn", "agent_msg", "tool_call", "tool_result"];

/** Items of one turn of the log. */
export const TURN = KINDS.length;

/** Seeded random numbers from 0 to below 1 (mulberry32): the same on every machine. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Two to four syllables, so that words are about as long as English ones and none is a stop word.
function vocabulary(next) {
  const pick = (letters) => letters[Math.floor(next() * letters.length)];
  const words = new Set();
  while (words.size < VOCABULARY) {
    let word = "";
    for (let left = 2 + Math.floor(next() * 3); left > 0; left -= 1) word += pick("bdfgklmnprtvz") + pick("aeiou");
    words.add(word);
  }
  return [...words];
}

/** The first `size` items; a shorter log is the beginning of a longer one. */
export function log(size, seed = 18) {
  const next = random(seed);
  const words = vocabulary(next);
  const items = [];
  for (let at = 0; at < size; at += 1) {
    const text = Array.from({ length: WORDS_PER_ITEM }, () => words[Math.floor(next() * words.length)]).join(" ");
    const item = { id: `i${at}`, kind: KINDS[at % TURN], text };
    if (item.kind === "tool_result") item.parent_id = `i${at - 1}`;
    items.push(item);
  }
  return items;
}

/** Texts of `count` user turns spread over the log, the newest first: what builds ask for. */
export function queries(items, count) {
  const turns = items.filter((item) => item.kind === "user_turn");
  const back = (at) => Math.floor((at * turns.length) / count);
  return Array.from({ length: count }, (_, at) => turns[turns.length - 1 - back(at)].text);
}

/** A log of a server as text of at least so many characters, with one error in it where it is long enough. */
export function textLog(bytes) {
  const lines = [];
  for (let size = 0, n = 0; size < bytes; n += 1) {
    const line =
      n === 7777
        ? `2026-03-01T12:00:00Z ERROR payment ord_${n} declined: card_expired after 3 attempts`
        : `2026-03-01T10:${String(n % 60).padStart(2, "0")}:00Z INFO http GET /v1/items/${(n * 7919) % 100003} 200 ${n % 97}ms`;
    size += line.length + 1;
    lines.push(line);
  }
  return lines.join("\n");
}
