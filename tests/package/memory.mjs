// What the JavaScript side holds for the case of a restart is bounded by what is alive. Needs `globalThis.gc`.
import { tool } from "./catalog.mjs";

const MIB = 1024 * 1024;

/** Bytes that the JavaScript side holds, after everything that nobody holds is gone; the engine's memory is not among them. */
function held(process) {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** What an object grows by while it is changed again and again, in MiB. */
async function growth(process, change, times) {
  for (let i = 0; i < 20; i += 1) await change(i);
  const before = held(process);
  for (let i = 20; i < times; i += 1) await change(i);
  const after = held(process);
  // The object is still there: it changes once more.
  await change(times);
  return (after - before) / MIB;
}

const text = (i, length) => `${i} `.padEnd(length, `word${i} `);

/** `{ name: (cw) => { object, change, times, limit } }`: what is alive stays the same, what is given is 8 MiB or more. */
export const memoryCases = {
  "artifacts that are evicted": (cw) => {
    const manager = new cw.ContextManager({ limits: { max_store_bytes: 200_000, eviction: "lru" } });
    return { change: (i) => manager.artifacts.put({ handle: `h${i}`, content: text(i, 20_000) }), times: 500 };
  },
  "artifacts that are overwritten": (cw) => {
    const manager = new cw.ContextManager();
    return { change: (i) => manager.artifacts.put({ handle: `h${i % 5}`, content: text(i, 20_000) }), times: 500 };
  },
  "artifacts that are deleted": (cw) => {
    const manager = new cw.ContextManager();
    const change = (i) => {
      manager.artifacts.put({ handle: `h${i}`, content: text(i, 40_000) });
      manager.artifacts.delete(`h${i}`);
    };
    return { change, times: 250 };
  },
  "artifacts that expire": (cw) => {
    let now = 0;
    const limits = { artifact_ttl_seconds: 10 };
    const manager = new cw.ContextManager({ limits, clock: () => now });
    const change = (i) => {
      now += 3000;
      manager.artifacts.put({ handle: `h${i}`, content: text(i, 40_000) });
    };
    return { change, times: 250 };
  },
  "results of which only the log stays": (cw) => {
    const manager = new cw.ContextManager({ limits: { max_store_bytes: 400_000, eviction: "lru" }, firewall: {} });
    const compact = (i) => manager.compact(text(i, 60_000));
    return { change: compact, times: 170 };
  },
  "facts and episodes": (cw) => {
    const manager = new cw.ContextManager();
    const change = (i) => {
      manager.facts.put({ fact_id: `f${i % 5}`, key: "k", value: text(i, 10_000) });
      manager.addEpisode({ episode_id: `e${i}`, summary: text(i, 10_000) });
      if (i > 4) manager.episodes.delete(`e${i - 5}`);
    };
    return { change, times: 500 };
  },
  "tools of a catalog": (cw) => {
    const catalog = new cw.Catalog();
    const change = (i) => {
      catalog.register(tool(`t.n${i}`, { description: text(i, 8_000) }));
      if (i > 4) catalog.remove(`t.n${i - 5}`);
    };
    return { change, times: 1200 };
  },
  "tools of a router, and their vectors": (cw) => {
    const catalog = new cw.Catalog([tool("a"), tool("b")]);
    const router = new cw.Router(catalog);
    const vector = (i) => Array.from({ length: 512 }, (_, at) => Math.sin(i + at));
    const change = (i) => {
      router.add([tool(`t.n${i}`, { description: text(i, 2_000) })]);
      router.setEmbeddings({ a: vector(i), b: vector(i + 1) });
      router.remove([`t.n${i}`]);
    };
    return { change, times: 400 };
  },
  "imports of decisions": (cw) => {
    const source = new cw.DecisionStore({ clock: () => 0, new_id: () => "aaaa" });
    const store = new cw.DecisionStore();
    const change = async (i) => {
      if (i === 0) await source.callTool("log_decision", { decision: text(i, 15_000), confidence: 1, category: "process" });
      store.import(JSON.stringify(source), { mode: "replace" });
    };
    return { change, times: 500 };
  },
};

/** Runs the cases; each may hold 2 MiB more at the end than at the beginning. */
export async function runMemoryCases(cw, process) {
  const results = [];
  for (const [name, make] of Object.entries(memoryCases)) {
    try {
      const { change, times } = make(cw);
      const grown = await growth(process, change, times);
      results.push({ name, ok: grown <= 2, error: `grew by ${grown.toFixed(1)} MiB`, grown });
    } catch (error) {
      results.push({ name, ok: false, error: `${error?.stack ?? error}` });
    }
  }
  return results;
}
