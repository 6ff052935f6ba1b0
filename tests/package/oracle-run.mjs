// Runs the converters of providers' packages over random conversations, whole and cut at every budget. A seed that fails is named with
// the fewest messages that still fail; ORACLE_SEED runs it alone, ORACLE_CONVERTER one converter.
import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { long } from "./harness.mjs";

const { ORACLE_SEED: one, ORACLE_CONVERTER: only } = process.env;
const [from, count] = one ? [Number(one), 1] : [1, long ? 20_000 : 250];

/** What is wrong with conversations that are refused or lost, as a thread of its own finds it. */
async function failures(name) {
  const worker = new Worker(new URL("./oracle-worker.mjs", import.meta.url), { workerData: { name, from, count } });
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
    };
    await Promise.all(names.map((name) => t.test(name, () => judged(name))));
  });
}
