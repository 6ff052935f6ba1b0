// Runs the converters of providers' packages over random conversations, whole and cut at every budget. A seed that fails is named with
// the fewest messages that still fail; ORACLE_SEED runs it alone, ORACLE_CONVERTER one converter.
import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { long } from "./harness.mjs";

const { ORACLE_SEED: one, ORACLE_CONVERTER: only } = process.env;
const [from, count] = one ? [Number(one), 1] : [1, long ? 20_000 : 2_000];

/**
 * Conversations that are still refused: two messages of one role where a running prompt goes on behind what its provider ran, a message
 * without its reasoning, an approval of a call among others. A seed that is mended is taken out here.
 */
const OPEN = {
  "@ai-sdk/openai, chat": [1468],
  "@ai-sdk/anthropic": [1538, 1552],
  "@ai-sdk/google": [233, 245, 523, 1469, 1538, 1552, 1584, 1979],
  "openai, chat": [438, 846, 912, 1026, 1645, 1836, 1860],
  "openai, Responses": [623, 668, 708, 761, 828, 1181, 1468, 1494, 1502],
  "@anthropic-ai/sdk": [34, 438, 500, 767, 963, 1093, 1235, 1292, 1501, 1669, 1792, 1833],
  "@google/genai": [65, 676, 767, 1142, 1669, 1770],
};

/** What is wrong with conversations that are refused or lost, as a thread of its own finds it. */
async function failures(name) {
  const worker = new Worker(new URL("./oracle-worker.mjs", import.meta.url), { workerData: { name, from, count, known: one ? [] : (OPEN[name] ?? []) } });
  const [found] = await once(worker, "message");
  await worker.terminate();
  return found;
}

/** Judges converters, as many at a time as CI machines have cores. */
export function judgeAll(converters) {
  test(`of ${count} conversations nothing is refused or lost without a word`, { concurrency: 2 }, async (t) => {
    const names = converters.filter((name) => only === undefined || name === only);
    const judged = async (name) => {
      const { failed, told } = await failures(name);
      assert.equal(told, undefined, `${name}: ${failed}`);
      if (one) return;
      const open = (OPEN[name] ?? []).filter((seed) => seed < from + count);
      if (open.length > 0) console.log(`NOT YET: ${name} refuses ${open.length} of ${count} conversations`);
      const mended = open.filter((seed) => !failed.includes(seed));
      if (mended.length > 0) console.log(`MENDED: ${name} takes ${mended}: they can be taken out of the list`);
    };
    await Promise.all(names.map((name) => t.test(name, () => judged(name))));
  });
}
