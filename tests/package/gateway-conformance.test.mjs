// The official conformance suite, directly and through the gateway: the server that the gateway is tested with passes it, the client
// that plays the suite's clients does, what passes directly passes through the gateway, and the rest is named with its reason.
// Compares docs/gateway-conformance.md, or writes it with CONTEXTWEAVER_UPDATE=1.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { connectDirectly, playScenario } from "./conformance-client.mjs";
import { clientResultsThroughGateway, compare, conformancePage, serverResultsThroughGateway } from "./conformance-gateway.mjs";
import { clientResults, conformanceSuites, reasonFor, serverResults } from "./conformance.mjs";
import { conformanceHandler, listen } from "./conformance-upstream.mjs";
import { aheadTable } from "./gateway-ahead.mjs";
import { has, root } from "./harness.mjs";

/** What passes less through the gateway, and why. */
const THROUGH = {
  "server-sse-polling at 2025-11-25":
    "the server closes the stream of an answer, and the gateway's own client goes back for it; the gateway's stream stays open",
};
/** What passes less where the server behind the gateway is of the earlier revisions, and why. */
const LEGACY = {
  "input-required-result-basic-elicitation at 2026-07-28": "the scenario looks for a question by its name, and questions of the earlier revisions have none",
  "input-required-result-multiple-input-requests at 2026-07-28":
    "the scenario wants three questions at once, and a server of the earlier revisions asks one after another",
};
/** Scenarios of tasks that say something. */
const OF_TASKS = /^tasks-(?!status-notifications)/;
const keyOf = ({ scenario, revision }) => `${scenario} at ${revision}`;
const throughFor = (pair) => THROUGH[keyOf(pair)];
const legacyFor = (pair) =>
  LEGACY[keyOf(pair)] ??
  throughFor(pair) ??
  (OF_TASKS.test(pair.scenario) ? "a server of the earlier revisions has tasks of another form, and none of these tools" : undefined);

const { suites = [], missing } = await conformanceSuites();

test("the conformance suite is installed", (t) => void has(t, suites.length > 0, { missing, optional: true }));

const pairs = { server: [], legacy: [], client: [] };

/** Directly, each result must be what is expected of it: passed, or not passed for a reason that is known. */
function judgeDirect(t, results, passes) {
  for (const result of results) {
    const reason = reasonFor(result);
    assert.equal(passes(result), reason === undefined, `${result.scenario} at ${result.revision}: ${reason ?? ""}\n${JSON.stringify(result, undefined, 1)}`);
  }
  t.diagnostic(`${results.length} scenarios at ${new Set(results.map(({ revision }) => revision)).size} revisions`);
}

/** Less passed where a reason is known, and nowhere else. */
function judge(compared, reasons = throughFor) {
  for (const pair of compared) {
    assert.equal(pair.worse, reasons(pair) !== undefined, `${pair.scenario} at ${pair.revision}\n${JSON.stringify(pair.through, undefined, 1)}`);
  }
  return compared;
}

for (const suite of suites) {
  test(`the server scenarios of ${suite.version} pass directly, with every check, and through the gateway, whatever era the server is of`, async (t) => {
    const [both, legacy] = [await listen(conformanceHandler()), await listen(conformanceHandler({ era: "legacy" }))];
    t.after(() => Promise.all([both.close(), legacy.close()]));
    const direct = await serverResults(suite, both.url);
    judgeDirect(t, direct, ({ status, skipped }) => status === "pass" && skipped.length === 0);
    // With a server of both eras the gateway speaks 2026-07-28.
    pairs.server.push(...judge(compare(direct, await serverResultsThroughGateway(suite, both.url))));
    pairs.legacy.push(...judge(compare(direct, await serverResultsThroughGateway(suite, legacy.url)), legacyFor));
  });

  test(`the client scenarios of ${suite.version} pass directly and through the gateway`, async (t) => {
    const direct = await clientResults(suite, (one) => playScenario(one, connectDirectly));
    judgeDirect(t, direct, ({ status }) => status === "pass");
    pairs.client.push(...judge(compare(direct, await clientResultsThroughGateway(suite, playScenario))));
  });
}

test("the page says what passes", async (t) => {
  if (!has(t, suites.length > 0, { missing, optional: true })) return;
  const page = conformancePage({
    versions: suites.map(({ version }) => version),
    ...pairs,
    reasons: throughFor,
    legacyReasons: legacyFor,
    direct: reasonFor,
    ahead: await aheadTable(),
  });
  const path = join(root, "docs", "gateway-conformance.md");
  if (process.env.CONTEXTWEAVER_UPDATE === "1") await writeFile(path, page);
  assert.equal(await readFile(path, "utf8"), page, "CONTEXTWEAVER_UPDATE=1 writes it");
});
