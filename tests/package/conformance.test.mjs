// The official conformance suite: the server that the gateway is tested with, and the client that plays the suite's clients.
import assert from "node:assert/strict";
import test from "node:test";
import { connectDirectly, playScenario } from "./conformance-client.mjs";
import { clientResults, conformanceSuites, reasonFor, serverResults } from "./conformance.mjs";
import { conformanceHandler, listen } from "./conformance-upstream.mjs";
import { has } from "./harness.mjs";

const { suites = [], missing } = await conformanceSuites();

test("the conformance suite is installed", (t) => void has(t, suites.length > 0, { missing, optional: true }));

/** Each result must be what is expected of it: passed, or not passed for a reason that is known. */
function judge(t, results, passes) {
  for (const result of results) {
    const reason = reasonFor(result);
    assert.equal(passes(result), reason === undefined, `${result.scenario} at ${result.revision}: ${reason ?? ""}\n${JSON.stringify(result, undefined, 1)}`);
  }
  t.diagnostic(`${results.length} scenarios at ${new Set(results.map(({ revision }) => revision)).size} revisions`);
}

for (const suite of suites) {
  test(`the server passes the server scenarios of ${suite.version}, with every check`, async (t) => {
    const upstream = await listen(conformanceHandler());
    t.after(() => upstream.close());
    judge(t, await serverResults(suite, upstream.url), ({ status, skipped }) => status === "pass" && skipped.length === 0);
  });

  test(`the client passes the client scenarios of ${suite.version}`, async (t) => {
    judge(t, await clientResults(suite, (started) => playScenario(started, connectDirectly)), ({ status }) => status === "pass");
  });
}
