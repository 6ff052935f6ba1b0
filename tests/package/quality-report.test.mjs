// The quality report of `cargo xtask bench quality`: what counts as a fall, what its table says, and that it fails.
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { baselineOf, changeOf, compare, nameOf, noiseOf } from "../../benches/quality/compare.mjs";
import { abstainPicture, recallPicture } from "../../benches/quality/plots.mjs";
import { HEAD, markdown, missedBy, rows, text } from "../../benches/quality/table.mjs";
import { packageDir, root, run, temporaryFolder } from "./harness.mjs";

function figure(set, metric, value, rest = {}) {
  const queries = rest.queries ?? 100;
  return { kind: "chats", set, metric, value, queries, noise: noiseOf(value, queries), better: "higher", unit: "share", ...rest };
}

const none = { fell: [], gone: [], resized: [], fresh: [], unmeasured: [] };

test("noise is one standard error, and never less than one query", () => {
  assert.equal(noiseOf(0.5, 100), 0.05);
  assert.ok(Math.abs(noiseOf(0.7, 760) - 0.01662) < 1e-5);
  assert.equal(noiseOf(1, 50), 0.02, "where all queries are right, one may fail");
  assert.equal(noiseOf(0, 50), 0.02);
  assert.throws(() => noiseOf(0.5, 0), RangeError);
});

test("a figure falls when it is worse by more than the noise of the committed one", () => {
  const baseline = baselineOf([figure("a", "recall", 0.5)]);
  for (const [value, falls] of [
    [0.7, false],
    [0.5, false],
    [0.46, false],
    [0.45, false],
    [0.4499, true],
    [0, true],
  ]) {
    const { fell } = compare([figure("a", "recall", value)], baseline);
    assert.deepEqual(fell.map(nameOf), falls ? ["chats/a/recall"] : [], String(value));
  }
});

test("where less is better, more is a fall", () => {
  const lower = (value) => figure("a", "false return", value, { better: "lower" });
  const baseline = baselineOf([lower(0.5)]);
  assert.equal(compare([lower(0.56)], baseline).fell.length, 1);
  assert.equal(compare([lower(0.55)], baseline).fell.length, 0);
  assert.equal(compare([lower(0.1)], baseline).fell.length, 0);
  assert.ok(changeOf(lower(0.4), baseline) > 0, "less is the better change");
});

test("a count without noise may not rise at all", () => {
  const broken = (value) => figure("a", "broken prompts", value, { better: "lower", unit: "count", noise: 0 });
  assert.equal(compare([broken(0)], baselineOf([broken(0)])).fell.length, 0);
  assert.equal(compare([broken(1)], baselineOf([broken(0)])).fell.length, 1);
});

test("a figure that vanishes from a measured set is named; a set that is not here is not a fall", () => {
  const baseline = baselineOf([figure("a", "recall", 0.5), figure("a", "mrr", 0.5), figure("b", "recall", 0.5)]);
  const verdict = compare([figure("a", "recall", 0.5)], baseline);
  assert.deepEqual(verdict, { ...none, gone: ["chats/a/mrr"], unmeasured: ["chats/b/recall"] });
});

test("a set of another size is named instead of compared, and what is new is no fall", () => {
  const baseline = baselineOf([figure("a", "recall", 0.5)]);
  const other = figure("a", "recall", 0.1, { queries: 90 });
  const added = figure("b", "recall", 0.1);
  assert.deepEqual(compare([other, added], baseline), { ...none, resized: [other], fresh: [added] });
});

test("a baseline that is read back compares as equal", () => {
  const figures = [1 / 3, 2 / 3, 0.123456789].map((value, at) => figure("a", `recall ${at}`, value));
  const baseline = JSON.parse(JSON.stringify(baselineOf(figures)));
  assert.deepEqual(compare(figures, baseline), none);
  for (const one of figures) assert.equal(changeOf(one, baseline), 0);
});

test("the table says where a peer is ahead, where none ran, what is missed and what fell", () => {
  const figures = [
    figure("a", "recall", 0.612, { peer: { name: "BM25", value: 0.65 }, target: 0.63 }),
    figure("a", "mrr", 0.5, { target: 0.5003 }),
    figure("a", "false return", 0.41, { better: "lower", peer: "none", target: 0.4 }),
    figure("a", "broken prompts", 2, { better: "lower", unit: "count", noise: 0, peer: "none", target: 0 }),
    figure("a", "new", 1, { peer: "none" }),
  ];
  const before = [
    ["recall", 0.7],
    ["mrr", 0.49],
    ["false return", 0.41],
  ].map(([metric, value]) => figure("a", metric, value));
  before.push(figure("a", "broken prompts", 2, { noise: 0 }));
  const baseline = baselineOf(before);
  const cells = rows(figures, baseline, compare(figures, baseline));
  assert.deepEqual(cells, [
    ["a", "recall", "100", "61.2", "65.0 BM25", "≥ 63.0, missed by 1.8", "FELL, worse by 8.8; noise 4.6"],
    ["a", "mrr", "100", "50.0", "not run", "≥ 50.0, missed by less than 0.1", "better by 1.0"],
    ["a", "false return", "100", "41.0", "", "≤ 40.0, missed by 1.0", "="],
    ["a", "broken prompts", "100", "2", "", "≤ 0, missed by 2", "="],
    ["a", "new", "100", "100.0", "", "", "new"],
  ]);
  assert.equal(missedBy(figure("a", "recall", 0.63, { target: 0.63 })), 0);
  const lines = text(cells).split("\n");
  assert.equal(lines.length, 1 + cells.length);
  const column = lines[0].indexOf(HEAD[4]);
  assert.ok(lines[1].startsWith("65.0 BM25", column), "columns stand below each other");
  const md = markdown(cells).split("\n");
  assert.ok(
    md.every((line) => line.split("|").length === HEAD.length + 2),
    "each row has a cell for each head",
  );
  const same = markdown(cells.slice(2, 4));
  assert.ok(!same.includes(HEAD.at(-1)) && !same.includes("="), "nothing changed, so there is no such column");
});

test("plots draw every series, with gaps where a peer has no value", () => {
  const budgets = { 1000: { recall: 0.5, queries: 100 }, 2000: { recall: 0.75, queries: 100 } };
  const recall = recallPicture([{ set: "a<b", budgets, peers: { BM25: { 1000: 0.4, 2000: 0.6 } } }], noiseOf);
  assert.match(recall, /a&lt;b, 100 queries/);
  assert.equal(recall.match(/<polyline/g).length, 2);
  // The panel is 250 by 170; its axes leave 34 and 14 at the sides, 26 above and below.
  assert.match(recall, /<polyline points="34,85 236,55.5"/);
  const engine = (curve) => ({ curve, "false return": 0.3, "false abstain": 0.05 });
  const engines = { contextweaver: engine([0.5, 0.4, 0.3]), gap: engine([0.5, null, 0.3]), silent: engine([null, null, null]) };
  const abstain = abstainPicture([{ set: "a", served: 10, unserved: 20, engines }], { a: { "false return": 40, "false abstain": 4 } });
  assert.equal(abstain.match(/<polyline/g).length, 3, "one run of ours, two of the peer with a gap, none of the silent one");
  assert.doesNotMatch(abstain, /silent|NaN/);
  assert.equal(abstain.match(/<text[^>]*>target<\/text>/g).length, 1);
});

test("the command fails and names the figure that fell, and accepts it with --update", async (t) => {
  const out = await temporaryFolder("quality");
  t.after(() => rm(out, { recursive: true }));
  // No public sets: the digests are of results that are part of the repository.
  const options = ["--package", packageDir, "--sets", join(out, "sets"), "--work", out, "--out", out, "--only", "digests"];
  const report = (...more) => run("node", [join(root, "benches/quality.mjs"), ...options, ...more], { check: false });
  const first = await report("--update");
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /digest-families +inline /);

  const path = join(out, "quality/baseline.json");
  const baseline = JSON.parse(await readFile(path, "utf8"));
  const fallen = baseline.figures["digests/digest-families/inline"];
  assert.ok(fallen.value > 0.5 && fallen.value < 0.95, "a figure that can fall");
  await writeFile(path, JSON.stringify({ figures: { ...baseline.figures, "digests/digest-families/inline": { ...fallen, value: 1 } } }));
  const failed = await report();
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^FAILED: digests\/digest-families\/inline fell by more than its noise$/m);
  assert.match(failed.stdout, /FELL, worse by/);
  assert.equal((await report("--update")).code, 0);
  assert.equal((await report()).code, 0, "the figures were accepted");
});

test("a kind that does not exist is refused", async () => {
  const options = ["--package", packageDir, "--only", "poetry"];
  const { code, stderr } = await run("node", [join(root, "benches/quality.mjs"), ...options], { check: false });
  assert.equal(code, 2);
  assert.match(stderr, /no kind 'poetry'; the kinds are routing/);
});
