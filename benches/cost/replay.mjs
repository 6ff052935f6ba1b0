// Replays recorded conversations call by call, and counts what an agent pays and what it sees.
//
// A call of a model is made before each message of the assistant, and one where a question is asked.
import { PRICES } from "./prices.mjs";
import { holds, lengthOf, lineOf, plainOf, repeats, shows, tokensOf } from "./prompt.mjs";

/** A prompt may be so much above its budget before it counts: estimators differ. */
const TOLERANCE = 1.05;
/** A session that costs more than this share of no engine is dearer. */
export const DEARER = 1.02;
/** Of a result that is longer the newest need not stand whole. */
const SHARE = 1 / 4;
/** A result with fewer characters stands in any text. */
const LEAST_RESULT = 40;
const WORD = /[A-Za-z0-9_./-]{6,}/g;

/** The words that a call copies from the newest result, which stood nowhere before. */
function copied(message, newest, earlier) {
  const written = message.tool_calls.map((call) => call.function.arguments.replaceAll("\\n", " ")).join(" ");
  const words = new Set(written.match(WORD) ?? []);
  return [...words].filter((word) => newest.content.includes(word) && !earlier.some((one) => plainOf(one).includes(word)));
}

/** The calls of a conversation, with what each is asked for. The same for every strategy, so made once. */
export function callsOf({ messages, questions }) {
  const calls = [];
  let characters = 0;
  for (let count = 1; count <= messages.length; count += 1) {
    characters += lineOf(messages[count - 1]).length + (count > 1 ? 1 : 0);
    const asked = questions.filter(({ at }) => at === count);
    // What the model was sent when it wrote the step that a question is about.
    const ahead = questions.filter(({ at }) => at === count + 1 && messages[count]?.role === "assistant");
    const answer = messages[count];
    const isCall = answer?.role === "assistant";
    if (!isCall && asked.length === 0) continue;
    const newest = isCall && messages[count - 1].role === "tool" ? messages[count - 1] : undefined;
    const words = newest && answer.tool_calls ? copied(answer, newest, messages.slice(0, count - 1)) : [];
    calls.push({ messages: messages.slice(0, count), tokens: tokensOf(characters), asked, ahead, newest, words });
  }
  return calls;
}

const isFound = (sent, { groups }) => groups.every((group) => group.some((values) => values.every((value) => holds(sent, value))));

const zero = () => ({
  calls: 0,
  tokens: 0,
  queries: 0,
  found: 0,
  ahead: 0,
  aheadFound: 0,
  next: 0,
  nextFound: 0,
  newest: 0,
  newestWhole: 0,
  rewrites: 0,
  over: 0,
  failed: 0,
});

/** Counts what one call was sent. */
function count(sum, call, sent, { same, budget, isFirst, isCut, before }) {
  const tokens = tokensOf(lengthOf(sent));
  sum.calls += 1;
  sum.tokens += tokens;
  if (tokens > budget * TOLERANCE) sum.over += 1;
  if (!isFirst && !isCut && same.messages < before && call.tokens <= budget) sum.rewrites += 1;
  const { newest } = call;
  if (newest && tokensOf(newest.content.length) <= budget * SHARE && newest.content.length > LEAST_RESULT) {
    sum.newest += 1;
    if (shows(sent, newest.content)) sum.newestWhole += 1;
  }
  if (call.words.length > 0) {
    sum.next += 1;
    if (call.words.every((word) => shows(sent, word))) sum.nextFound += 1;
  }
  sum.queries += call.asked.length;
  sum.found += call.asked.filter((question) => isFound(sent, question)).length;
  sum.ahead += call.ahead.length;
  sum.aheadFound += call.ahead.filter((question) => isFound(sent, question)).length;
  return tokens;
}

/** Replays one conversation; `paid` has its cost in every price model. Errors of a strategy are counted and kept. */
function replayOne(calls, make, budget, prices, sum) {
  const strategy = make(budget, prices);
  const paid = Object.fromEntries(Object.keys(PRICES).map((name) => [name, 0]));
  let before = [];
  let cuts = 0;
  for (const call of calls) {
    let sent;
    try {
      sent = strategy.fit(call.messages);
    } catch (error) {
      sum.failed += 1;
      sum.error ??= String(error);
      continue;
    }
    const same = repeats(before, sent);
    const named = strategy.cuts?.() ?? 0;
    const tokens = count(sum, call, sent, { same, budget, isFirst: before.length === 0, isCut: named > cuts, before: before.length });
    cuts = named;
    for (const [name, price] of Object.entries(PRICES)) paid[name] += price(tokens, same);
    before = sent;
  }
  strategy.end?.();
  return paid;
}

/** Replays conversations (their `callsOf`) through a strategy: {[price model]: {…counts, paid: [of each conversation]}}. */
export function replay(conversations, { make, priced = false }, budget) {
  const names = Object.keys(PRICES);
  const run = (prices) => {
    const sum = zero();
    const paid = conversations.map((calls) => replayOne(calls, make, budget, prices, sum));
    return { sum, paid };
  };
  const shared = priced ? undefined : run(undefined);
  return Object.fromEntries(
    names.map((name) => {
      const { sum, paid } = shared ?? run(name);
      return [name, { ...sum, paid: paid.map((one) => one[name]) }];
    }),
  );
}

const total = (list) => list.reduce((sum, value) => sum + value, 0);
const share = (part, of) => (of === 0 ? undefined : part / of);

/** The figures of a strategy beside no engine, for one price model. */
export function figures(ours, full) {
  const ratios = ours.paid.map((paid, at) => paid / full.paid[at]);
  const { calls, queries, next, newest, rewrites, over, failed, error } = ours;
  return {
    calls,
    queries,
    cost: total(ours.paid) / total(full.paid),
    dearer: ratios.filter((ratio) => ratio > DEARER).length,
    worst: Math.max(...ratios),
    tokens: ours.tokens / full.tokens,
    recall: share(ours.found, queries),
    "recall ahead": share(ours.aheadFound, ours.ahead),
    next: share(ours.nextFound, next),
    "next of": next,
    newest: share(ours.newestWhole, newest),
    "newest of": newest,
    rewrites,
    over,
    failed,
    ...(error !== undefined && { error }),
  };
}
