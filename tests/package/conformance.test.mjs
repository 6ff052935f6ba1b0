// The official conformance suite, against the server that the gateway is tested with.
import assert from "node:assert/strict";
import test from "node:test";
import { conformanceSuites, serverResults } from "./conformance.mjs";
import { conformanceHandler, listen } from "./conformance-upstream.mjs";
import { has } from "./harness.mjs";

/** What does not pass directly, and why. */
const DIRECT = {
  "server-sse-polling at 0.1.16": "the suite calls as 2025-03-26, where no stream begins with an event that has an id",
};
const TASKS = "the official SDK 2.4.0 has no server of the tasks extension (SEP-2663)";

const { suites = [], missing } = await conformanceSuites();

test("the conformance suite is installed", (t) => void has(t, suites.length > 0, { missing, optional: true }));

for (const suite of suites) {
  test(`the upstream server passes the server scenarios of ${suite.version}`, async (t) => {
    const upstream = await listen(conformanceHandler());
    t.after(() => upstream.close());
    const results = await serverResults(suite, upstream.url);
    for (const result of results) {
      const name = `${result.scenario} at ${result.revision}`;
      const reason = DIRECT[name] ?? (result.scenario.startsWith("tasks-") ? TASKS : undefined);
      const passed = result.status === "pass" && result.problems.length === 0;
      assert.equal(passed, reason === undefined, `${name}: ${reason ?? ""}\n${JSON.stringify(result, undefined, 1)}`);
    }
    t.diagnostic(`${results.length} scenarios at ${new Set(results.map(({ revision }) => revision)).size} revisions`);
  });
}
