// The official conformance suite: the server that the gateway is tested with, and the client that plays the suite's clients.
import assert from "node:assert/strict";
import test from "node:test";
import { connectDirectly, playScenario } from "./conformance-client.mjs";
import { clientResults, conformanceSuites, serverResults } from "./conformance.mjs";
import { conformanceHandler, listen } from "./conformance-upstream.mjs";
import { has } from "./harness.mjs";

/** What does not pass without a gateway, by scenario and revision, and why. */
const DIRECT = {
  "server-sse-polling at 0.1.16": "the suite calls as 2025-03-26, where no stream begins with an event that has an id",
  "auth/2025-03-26-oauth-metadata-backcompat at 0.1.16": "the suite's metadata names another issuer than its address, which the official SDK refuses; 0.2 is right",
};
const reasonFor = ({ scenario, revision }) => {
  if (scenario.startsWith("tasks-")) return "the official SDK 2.4.0 has no server for the extension of tasks (SEP-2663)";
  if (scenario.startsWith("sep-2640-client-")) return "what a host must do with skills, and the client here is none";
  return DIRECT[`${scenario} at ${revision}`];
};

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
