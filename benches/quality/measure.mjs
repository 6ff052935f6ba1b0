// Runs the scorers and makes figures of what they print. No scorer is written here: ours are the scripts in `benches`,
// and what lies beside the sets (plain BM25, the newest items) is run as it is.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnSync } from "node:child_process";

import { bestOf, noiseOf, share } from "./compare.mjs";
import { costFigures } from "./cost.mjs";
import { RULE_BUDGETS, ruleFigures } from "./rules.mjs";
import { AGENTS, BROKEN, BUDGETS, COST_BUDGETS, COST_JOINS, SOURCES, TARGETS } from "./targets.mjs";

const benches = dirname(dirname(fileURLToPath(import.meta.url)));
const own = join(benches, "../tests/quality");
/** One identifier in five that are out of the prompt is asked for. */
const EVERY = 5;
/** A log with fewer identifiers says nothing about them. */
const MIN_IDENTIFIERS = 10;
const MAX_BUFFER = 2 ** 28;
/** How a script begins the line that says what it went without. */
const SKIPPED = "SKIPPED: ";

export const KINDS = [
  "routing",
  "tools",
  "abstain",
  "multitool",
  "context",
  "chats",
  "trajectories",
  "rules",
  "cost",
  "recall",
  "digests",
  "encodings",
  "secrets",
];
/** Sets on which ways to find tools are compared with models; the others are those of `routing`. */
const MODEL_SETS = ["livemcpbench", "livemcpbench, by step", "github-mcp-server", "mcp-servers"];

/** Measures the kinds; `say` is told what is done, and what is skipped is returned. */
export class Run {
  #outputs = new Map();
  /** Why something was not measured, each reason once. */
  skipped = new Set();
  /** For the plots: recall by budget, false returns by false abstentions, and cost by recall. */
  curves = { recall: [], abstain: [], cost: [] };

  constructor({ package: folder, sets, work, say }) {
    Object.assign(this, { folder, sets, work, say });
  }

  /** The figures of a kind, in the order of its sets. */
  figures(kind) {
    const measured = this[kind]();
    const known = TARGETS[kind];
    const missing = Object.keys(known).filter((set) => set !== AGENTS.name && !measured.some((figure) => figure.set === set));
    for (const set of missing) this.skip(`${kind}: the set ${set} is not here${SOURCES[kind] ? `; it ${SOURCES[kind]}` : ""}`);
    const percent = ({ set, metric, target }) => target ?? known[set]?.[metric];
    const sets = [...new Set(measured.map(({ set }) => set))];
    return sets
      .flatMap((set) => measured.filter((figure) => figure.set === set))
      .map((figure) => {
        const target = percent(figure);
        return { kind, ...figure, target: target === undefined || figure.unit === "count" ? target : target / 100 };
      });
  }

  skip(reason) {
    if (this.skipped.has(reason)) return;
    this.skipped.add(reason);
    this.say(SKIPPED + reason);
  }

  /** What a script printed; one that fails ends the measurement. */
  #script(path, ...args) {
    const key = [path, ...args].join("\0");
    if (!this.#outputs.has(key)) {
      this.say(`node ${[path, ...args].join(" ")}`);
      const { status, signal, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: "utf8", maxBuffer: MAX_BUFFER });
      if (status !== 0) throw new Error(`${path} failed (${signal ?? status}): ${stderr}`);
      for (const line of stderr.split("\n").filter(Boolean)) {
        if (line.startsWith(SKIPPED)) this.skip(line.slice(SKIPPED.length));
        else this.say(line);
      }
      this.#outputs.set(key, stdout);
    }
    return this.#outputs.get(key);
  }

  #bench(name, ...args) {
    return JSON.parse(this.#script(join(benches, `${name}.mjs`), "--package", this.folder, "--json", ...args));
  }

  /** The folders with sets of a kind: the public ones, those that were made here, ours. */
  #folders(kind, ours) {
    const all = [join(this.sets, kind), join(this.work, "sets", kind), ...(ours ? [ours] : [])];
    return all.filter((folder) => existsSync(folder) && readdirSync(folder).some((file) => /\.jsonl?$/.test(file)));
  }

  #routing(kind, metric) {
    const score = (folder) => this.#bench("routing", "--sets", folder, "--no-times", "--compare", "--work", this.work);
    const sets = this.#folders(kind, join(own, "routing")).flatMap((folder) => Object.entries(score(folder)));
    return sets.filter(([, { engines }]) => metric(engines.contextweaver));
  }

  routing() {
    const sets = this.#routing("routing", (metrics) => !("false return" in metrics) && !("complete@5" in metrics));
    return sets.flatMap(([set, result]) => ["recall@1", "recall@5", "mrr"].map((metric) => choice(set, metric, result, result.queries)));
  }

  /** Long tasks, and ways to find tools with and without a model. */
  tools() {
    const only = MODEL_SETS.flatMap((set) => ["--only", set]);
    return Object.entries(this.#bench("tools", "--sets", this.sets, "--work", this.work, ...only)).flatMap(([set, { queries, engines }]) => {
      const known = Object.entries(engines);
      const isModel = (name) => name.endsWith(" alone");
      const plain = Object.fromEntries(known.filter(([name]) => !isModel(name) && !name.startsWith("contextweaver with ")));
      const best = ["recall@5", "recall@10"].map((metric) => choice(set, metric, { engines: plain }, queries));
      const models = known
        .filter(([name]) => isModel(name))
        .map(([name, alone]) => {
          const model = name.slice(0, -" alone".length);
          const together = { contextweaver: engines[`contextweaver with ${model}`], [name]: alone };
          return { ...choice(set, "recall@5", { engines: together }, queries), metric: `recall@5 with ${model}` };
        });
      // Of a task that is asked step by step there are several.
      const { confidence, "hit@5": hit } = engines.contextweaver;
      const calibrated = set.includes("by step") ? [] : [{ ...share(set, "confidence off by", Math.abs(confidence - hit), queries, "lower"), peer: "none" }];
      return [...best, ...models, ...calibrated];
    });
  }

  multitool() {
    const sets = this.#routing("multitool", (metrics) => "complete@5" in metrics);
    const plain = this.#multiPeers();
    return sets.flatMap(([set, result]) => {
      const bm25 = plain[set]?.bm25?.all;
      const all = { ...result, engines: { ...result.engines, ...(bm25 ? { "plain BM25": bm25 } : {}) } };
      return ["complete@5", "complete@10"].map((metric) => choice(set, metric, all, result.queries));
    });
  }

  /** The plain BM25 that lies beside the public sets; it cannot read ours. */
  #multiPeers() {
    const script = join(this.sets, "multitool/score-multi.mjs");
    const files = jsonFiles(this.#folders("multitool"));
    if (files.length === 0) return {};
    if (existsSync(script)) return JSON.parse(this.#script(script, this.folder, ...files, "--json"));
    this.skip(`the peer plain BM25: ${script} is not here`);
    return {};
  }

  abstain() {
    const sets = this.#routing("abstain", (metrics) => "false return" in metrics);
    return sets.flatMap(([set, result]) => {
      const { queries, served, known, engines } = result;
      this.curves.abstain.push({ set, served, unserved: queries - served, engines });
      const ours = engines.contextweaver;
      // A peer's threshold is set where it refuses as many that are served, so its false abstentions are ours.
      return [
        choice(set, "false return", result, queries - served, "lower"),
        { ...share(set, "false abstain", ours["false abstain"], served, "lower"), peer: "none" },
        choice(set, "recall@5", { engines: refusing(engines) }, known),
      ];
    });
  }

  context() {
    return this.#prompts("context", own);
  }

  chats() {
    return this.#prompts("chats");
  }

  trajectories() {
    return this.#prompts("trajectories");
  }

  #prompts(kind, ours) {
    const folders = this.#folders(kind, ours);
    const sets = folders.flatMap((folder) => Object.entries(this.#bench("context", "--sets", folder, "--budgets", BUDGETS.join(","))));
    const peers = this.#plainSelections(folders);
    const all = sets.map(([set, budgets]) => ({ set, budgets, peers: peers[set] ?? {} }));
    const agents = all.filter(({ set }) => AGENTS.of.includes(set));
    if (agents.length === AGENTS.of.length) all.push(together(AGENTS.name, agents));
    this.curves.recall.push(...all);
    return all.flatMap((result) => prompt(result));
  }

  /** Whole recall by budget of what lies beside the sets, {set: {method: {budget: share}}}. */
  #plainSelections(folders) {
    const isSet = (file) => Array.isArray(JSON.parse(readFileSync(file, "utf8")).sessions);
    const files = jsonFiles(folders).filter(isSet);
    const scripts = [
      ["chats/bm25-context.mjs", ["--budgets", BUDGETS.join(",")], (name) => `BM25 ${name}`],
      ["trajectories/last-n.mjs", [], (name) => name],
    ];
    const found = {};
    for (const [path, options, label] of files.length > 0 ? scripts : []) {
      const script = join(this.sets, path);
      if (!existsSync(script)) {
        this.skip(`the peers of ${path}: ${script} is not here`);
        continue;
      }
      const lines = this.#script(script, ...options, ...files).matchAll(/^(\S+)\s+(\S+)\s+\d+(?: queries)?\s+(.+)$/gm);
      for (const [, set, name, rest] of lines) {
        const budgets = [...rest.matchAll(/(\d+): ([\d.]+)\//g)].map(([, budget, whole]) => [budget, Number(whole) / 100]);
        (found[set] ??= {})[label(name)] = Object.fromEntries(budgets);
      }
    }
    return found;
  }

  /** Standing instructions: the scorer lies beside the texts that two sets are made of; sixty conversations of ours are held out. */
  rules() {
    const home = join(this.sets, "rules");
    const scorer = join(home, "score-rules.mjs");
    if (!existsSync(scorer)) {
      this.skip(`rules: ${scorer} is not here`);
      return [];
    }
    const made = join(this.work, "sets/rules");
    const sessions = join(this.work, "sets/trajectories");
    this.#script(join(home, "make-rules.mjs"), join(made, "dev"), ...(existsSync(sessions) ? [sessions] : []));
    this.#script(join(own, "rules/make.mjs"), join(made, "held-out"));
    const scored = (name) => {
      const files = jsonFiles([join(made, name)]);
      return JSON.parse(this.#script(scorer, this.folder, ...files, "--json", "--budgets", RULE_BUDGETS.join(",")));
    };
    const { all, ...sets } = scored("dev");
    const [[, heldOut]] = Object.entries(scored("held-out"));
    const known = { ...sets, ...(all ? { "both sets of rules": all } : {}), "sixty, held out": heldOut };
    return Object.entries(known).flatMap(([set, methods]) => ruleFigures(set, methods));
  }

  cost() {
    const folders = [join(this.sets, "trajectories"), join(this.work, "sets/trajectories")];
    const replayed = ["--budgets", COST_BUDGETS.join(","), "--join", COST_JOINS.join(",")];
    const result = this.#bench("cost", ...replayed, ...folders.flatMap((folder) => ["--sets", folder]));
    this.curves.cost.push(...result.sessions);
    return costFigures(result, TARGETS.cost);
  }

  recall() {
    const folders = [this.#folders("context", own), this.#folders("chats"), this.#folders("trajectories")].flat();
    const sets = Object.entries(this.#bench("recall", "--every", String(EVERY), ...folders.flatMap((folder) => ["--sets", folder])));
    const enough = sets.filter(([, { identifiers }]) => identifiers >= MIN_IDENTIFIERS);
    return enough.flatMap(([set, { identifiers, asked, found, without, within_reach, without_ledger }]) => {
      const figure = (metric, value, inPrompt) => {
        // What is in the prompt is counted, and what is not is a sample.
        const noise = asked === 0 ? 1 / identifiers : (1 - inPrompt) * noiseOf(found / asked, asked);
        return { ...share(set, metric, value, identifiers), noise, peer: { name: "the prompt alone", value: inPrompt } };
      };
      return [figure("within reach", without_ledger.within_reach, without_ledger.in_prompt), figure("within reach, with a ledger", within_reach, without)];
    });
  }

  digests() {
    const { quality } = this.#bench("firewall", "--no-times");
    return Object.entries(quality).flatMap(([set, { inline, one_view, needles }]) => [
      share(set, "inline", inline / needles, needles),
      share(set, "inline or one view", one_view / needles, needles),
    ]);
  }

  /** What structured results cost: a spelling is to take no more tokens than TOON. */
  encodings() {
    return this.#bench("firewall", "--encodings", "--work", this.work).encodings.map(({ set, json, toon, ours }) => {
      const tokens = { set, metric: "tokens of compact JSON", value: ours / json, queries: 1, noise: 1 / json, better: "lower", unit: "share" };
      return { ...tokens, peer: { name: "TOON", value: toon / json }, target: (100 * toon) / json };
    });
  }

  /** Credentials: the scorer lies beside the set. */
  secrets() {
    const [folder] = this.#folders("secrets");
    if (folder === undefined) return [];
    const script = join(folder, "score-secrets.mjs");
    if (!existsSync(script)) {
      this.skip(`secrets: ${script} is not here`);
      return [];
    }
    const [result] = Object.values(JSON.parse(this.#script(script, this.folder, folder, "--json")));
    const ordinary = readFileSync(join(folder, "survivors.jsonl"), "utf8").split("\n").filter(Boolean);
    const counted = ordinary.filter((line) => !JSON.parse(line).category.startsWith("gitleaks"));
    return [share("secrets", "masked", result.masked, result.cases), share("secrets", "ordinary text kept", result.kept, counted.length)];
  }
}

const jsonFiles = (folders) =>
  folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => join(folder, file)),
  );

/** What returns tools for everything is no peer of what refuses: it has too few scores to set a threshold on. */
const refusing = (engines) => Object.fromEntries(Object.entries(engines).filter(([, metrics]) => metrics["false return"] < 1));

/** A figure of a router beside the best of its peers. */
function choice(set, metric, { engines }, queries, better = "higher") {
  const { contextweaver: ours, ...peers } = engines;
  const values = Object.entries(peers).map(([name, metrics]) => ({ name, value: metrics[metric] }));
  return { ...share(set, metric, ours[metric], queries, better), peer: bestOf(values, better) };
}

function prompt({ set, budgets, peers }) {
  const figures = Object.entries(budgets).map(([budget, { recall, queries }]) => {
    const values = Object.entries(peers).map(([name, recalls]) => ({ name, value: recalls[budget] }));
    return { ...share(set, `recall at ${budget}`, recall, queries), peer: bestOf(values, "higher") };
  });
  const all = Object.values(budgets);
  const sum = (key) => all.reduce((total, one) => total + one[key], 0);
  const broken = { set, metric: "broken prompts", value: sum("broken"), queries: sum("queries"), noise: 0, better: "lower", unit: "count" };
  return [...figures, { ...broken, peer: "none", target: BROKEN }];
}

/** Several sets as one, each query counting the same. */
function together(name, sets) {
  const queries = (at) => sets[at].budgets[BUDGETS[0]].queries;
  const total = sets.reduce((sum, _, at) => sum + queries(at), 0);
  const mean = (value) => sets.reduce((sum, set, at) => sum + queries(at) * value(set), 0) / total;
  const budgets = BUDGETS.map((budget) => {
    const broken = sets.reduce((sum, set) => sum + set.budgets[budget].broken, 0);
    return [budget, { queries: total, recall: mean((set) => set.budgets[budget].recall), broken }];
  });
  const shared = Object.keys(sets[0].peers).filter((peer) => sets.every((set) => set.peers[peer]));
  const recalls = (peer) => {
    const known = BUDGETS.filter((budget) => sets.every((set) => budget in set.peers[peer]));
    return Object.fromEntries(known.map((budget) => [budget, mean((set) => set.peers[peer][budget])]));
  };
  const peers = Object.fromEntries(shared.map((peer) => [peer, recalls(peer)]));
  return { set: name, budgets: Object.fromEntries(budgets), peers };
}
