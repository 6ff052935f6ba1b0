// What keeps a conversation within a budget: ours and what others do. Each makes, for a budget in tokens and the name of a price
// model, something that turns the messages so far into those that are sent: { fit(messages), cuts?(), end?() }; `cuts` says how often
// it has begun anew for a reason that it names.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { lengthOf, tokensOf } from "./prompt.mjs";

const size = (messages) => tokensOf(lengthOf(messages));

/** No engine: the whole conversation, however long. What every cost is a share of. */
const full = () => ({ fit: (messages) => messages });

/** The first message and the newest that fit behind it; a result never without its call. */
function lastN(budget) {
  const fit = (messages) => {
    let total = size(messages.slice(0, 1));
    let from = messages.length;
    while (from > 1 && total + size([messages[from - 1]]) <= budget) {
      from -= 1;
      total += size([messages[from]]);
    }
    while (from < messages.length && messages[from].role === "tool") from += 1;
    return [messages[0], ...messages.slice(Math.max(1, from))];
  };
  return { fit };
}

/** The newest results that providers leave alone when they clear old ones. */
const SPARED = 3;
const CLEARED = "[cleared]";

/** As providers clear old results: above the budget the oldest go, so many at once that a third of the budget is free. */
function clear(budget) {
  const gone = new Map();
  const sent = (messages) => messages.map((message, at) => gone.get(at) ?? message);
  const fit = (messages) => {
    const now = sent(messages);
    let excess = size(now) - budget;
    if (excess <= 0) return now;
    excess += budget / 3;
    const results = messages.flatMap(({ role }, at) => (role === "tool" ? [at] : []));
    for (const at of results.slice(0, -SPARED)) {
      if (excess <= 0) break;
      if (gone.has(at)) continue;
      excess -= tokensOf(messages[at].content.length) - tokensOf(CLEARED.length);
      gone.set(at, { ...messages[at], content: CLEARED });
    }
    return sent(messages);
  };
  return { fit };
}

/** Characters of a result that stay at either end, which is 500 tokens in all. */
const END = 1000;

/** Both ends of every result, whatever the budget is. */
function headTail() {
  const cut = new WeakMap();
  const shortened = (message) => {
    if (message.role !== "tool" || message.content.length <= 2 * END) return message;
    if (!cut.has(message)) cut.set(message, { ...message, content: `${message.content.slice(0, END)}\n[…]\n${message.content.slice(-END)}` });
    return cut.get(message);
  };
  return { fit: (messages) => messages.map(shortened) };
}

/**
 * Fifteen lines over the engine: results enter whole and nothing that was sent is touched; when the next prompt would not fit, a
 * fresh one of a share of the budget is built, and the conversation goes on behind it.
 */
function fifteenLines(ContextManager, share) {
  return (budget) => {
    const manager = new ContextManager();
    let base = [];
    let taken = 0;
    const fit = (messages) => {
      const next = [...base, ...messages.slice(taken)];
      if (size(next) <= budget) return next;
      manager.syncMessages(messages, "openai-chat");
      base = manager.buildMessages({ phase: "answer", format: "openai-chat", budget_tokens: Math.floor(budget * share), running: false }).messages;
      taken = messages.length;
      return base;
    };
    return { fit, end: () => manager.free() };
  };
}

/** An entry of a built package, as Node gets it. */
export function entry(packageFolder, name) {
  const folder = resolve(packageFolder);
  const forNode = join(folder, "dist/node", `${name}.js`);
  return import(pathToFileURL(existsSync(forNode) ? forNode : join(folder, "dist", `${name}.js`)));
}

/** Strategies by name, of a built package. `priced`: it acts by the price model, so that each model is a replay of its own. */
export async function strategiesOf(packageFolder) {
  const [{ contextWeaver }, { ContextManager }] = [await entry(packageFolder, "openai"), await entry(packageFolder, "index")];
  const ours = (options) => (budget, prices) => {
    const loop = contextWeaver({ tools: [], budget_tokens: budget, prices, ...options });
    return { fit: (messages) => loop.fit({ model: "model", messages }).messages, cuts: () => loop.costs().cuts, end: () => loop.free() };
  };
  return {
    full: { make: full },
    default: { make: ours({}), priced: true },
    // The frontier of the option: from keeping what it can to saving what it can.
    "thrift-0.0": { make: ours({ thrift: 0 }), priced: true },
    "thrift-0.25": { make: ours({ thrift: 0.25 }), priced: true },
    "thrift-0.75": { make: ours({ thrift: 0.75 }), priced: true },
    "thrift-1.0": { make: ours({ thrift: 1 }), priced: true },
    "cut-0.3": { make: fifteenLines(ContextManager, 0.3) },
    "cut-0.5": { make: fifteenLines(ContextManager, 0.5) },
    "cut-0.7": { make: fifteenLines(ContextManager, 0.7) },
    "last-n": { make: lastN },
    clear: { make: clear },
    "head-tail-500": { make: headTail },
  };
}
