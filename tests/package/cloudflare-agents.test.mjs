// The adapter for chat agents on Cloudflare, in their own class, in workerd: the session of all adapters, and what is left of it
// when the object wakes up anew.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { BUDGET, DONE, QUESTION, RUN_BUDGETS, STEPS, TASK } from "./agent-session.mjs";
import { here, project, temporaryFolder } from "./harness.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

/** What the framework asks for, beyond `nodejs_compat`. */
const COMPATIBILITY_DATE = "2026-03-01";

const folder = await project("cloudflare-agents", {});
const builtins = [...builtinModules, "node:*"];
const modules = await bundleWorker(join(here, "cloudflare-agents.worker.mjs"), { external: builtins, nodePaths: [join(folder, "node_modules")] });

/** Runs the Worker over what is kept in a folder. */
async function withWorker(kept, use) {
  const { Miniflare } = await import("miniflare");
  const miniflare = new Miniflare({
    modules,
    modulesRoot: "/",
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ["nodejs_compat"],
    durableObjects: { Chat: { className: "Chat", useSQLite: true } },
    durableObjectsPersist: join(kept, "objects"),
    r2Buckets: ["BUCKET"],
    r2Persist: join(kept, "bucket"),
  });
  try {
    return await use(
      async (room, script, text, run) => {
        const response = await miniflare.dispatchFetch(`http://localhost/agents/chat/${room}`, { method: "POST", body: JSON.stringify({ script, text, run }) });
        assert.equal(response.status, 200, await response.clone().text());
        return response.json();
      },
      await miniflare.getR2Bucket("BUCKET"),
    );
  } finally {
    await miniflare.dispose();
  }
}

test("60 steps in a chat agent, and the next turn after the object went to sleep", async (t) => {
  const kept = await temporaryFolder("test");
  t.after(() => rm(kept, { recursive: true, force: true }));
  await withWorker(kept, async (turn, bucket) => {
    const { said, problems, steps, rows } = await turn("one", "long", QUESTION);
    assert.deepEqual(problems, []);
    assert.equal(said.text, "parcel 6475");
    assert.equal(steps.length, STEPS);
    for (const { tokens, superseded } of steps) assert.ok(tokens <= BUDGET && superseded === 0, `${tokens} tokens, ${superseded} superseded`);
    // A part for each step, and none near the 2 MB of a row: what is large is in the bucket.
    assert.ok(rows.parts >= STEPS && rows.longest < 256 * 1024, JSON.stringify(rows));
    assert.ok((await bucket.list()).objects.length > 0);
  });
  await withWorker(kept, async (turn) => {
    const { said, problems, steps } = await turn("one", "later", "And what is in order 4100?");
    assert.deepEqual(problems, []);
    assert.equal(said.text, "parcel 1347");
    assert.deepEqual(
      steps.map(({ superseded }) => superseded),
      [0, 0],
    );
    // Another room knows nothing of it.
    const other = await turn("two", "later", "And what is in order 4100?");
    assert.notEqual(other.said.text, "parcel 1347");
  });
});

test(`${RUN_BUDGETS.join(" and ")} tokens for 40 steps with large results in a chat agent`, async (t) => {
  const kept = await temporaryFolder("test");
  t.after(() => rm(kept, { recursive: true, force: true }));
  await withWorker(kept, async (turn) => {
    for (const budget of RUN_BUDGETS) {
      const { said, problems } = await turn(`run-${budget}`, undefined, TASK, budget);
      assert.deepEqual(problems, []);
      assert.equal(said.text, DONE);
    }
  });
});
