// What the JavaScript side holds for the case of a restart, and what the engine holds, is bounded by what is alive. Needs
// `globalThis.gc`.
import { tool } from "./catalog.mjs";

const MIB = 1024 * 1024;

/** Bytes that the JavaScript side holds, after everything that nobody holds is gone; the engine's memory is not among them. */
function held(process) {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** MiB by which an object, and the engine for it, may grow. */
const LIMIT = 2;
/** Changes before the first measurement. */
const FIRST = 20;

/**
 * What an object grows by while it is changed again and again, in MiB: on the JavaScript side since the first changes; in
 * the engine, whose memory never shrinks and has to be as large as it is at most, in the second half.
 */
async function growth({ process, engineBytes }, change, times) {
  for (let i = 0; i < FIRST; i += 1) await change(i);
  const before = held(process);
  let [half, i] = [0, FIRST];
  for (; i < times; i += 1) {
    if (i === Math.floor(times / 2)) half = engineBytes();
    await change(i);
  }
  const grown = { held: (held(process) - before) / MIB, engine: (engineBytes() - half) / MIB };
  // The object is still there: it changes once more.
  await change(times);
  return grown;
}

const text = (i, length) => `${i} `.padEnd(length, `word${i} `);

const call = (id) => ({ role: "assistant", content: "", tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }] });

/**
 * `{ name: (cw, part) => { change, times } }`: what is alive stays the same, what is given is 8 MiB or more. `part` of the
 * texts' lengths are used: all, or less where there are many more changes.
 */
export const memoryCases = {
  "artifacts that are evicted": (cw, part) => {
    const manager = new cw.ContextManager({ limits: { max_store_bytes: 200_000, eviction: "lru" } });
    return { change: (i) => manager.artifacts.put({ handle: `h${i}`, content: text(i, 20_000 * part) }), times: 500 };
  },
  "artifacts that are overwritten": (cw, part) => {
    const manager = new cw.ContextManager();
    return { change: (i) => manager.artifacts.put({ handle: `h${i % 5}`, content: text(i, 20_000 * part) }), times: 500 };
  },
  "artifacts that are deleted": (cw, part) => {
    const manager = new cw.ContextManager();
    const change = (i) => {
      manager.artifacts.put({ handle: `h${i}`, content: text(i, 40_000 * part) });
      manager.artifacts.delete(`h${i}`);
    };
    return { change, times: 250 };
  },
  "artifacts that expire": (cw, part) => {
    let now = 0;
    const limits = { artifact_ttl_seconds: 10 };
    const manager = new cw.ContextManager({ limits, clock: () => now });
    const change = (i) => {
      now += 3000;
      manager.artifacts.put({ handle: `h${i}`, content: text(i, 40_000 * part) });
    };
    return { change, times: 250 };
  },
  "artifacts that are read, which decides what is evicted": (cw) => {
    const manager = new cw.ContextManager({ limits: { max_store_bytes: 200_000, eviction: "lru" } });
    for (let at = 0; at < 5; at += 1) manager.artifacts.put({ handle: `h${at}`, content: text(at, 20_000) });
    const change = (i) => {
      manager.artifacts.pin(`h${i % 5}`);
      manager.artifacts.bytes(`h${i % 5}`);
      manager.drilldown(`h${i % 5}`, { type: "head", chars: 20 });
      manager.artifacts.unpin(`h${i % 5}`);
    };
    return { change, times: 10_000 };
  },
  "results of which only the log stays": (cw, part) => {
    const manager = new cw.ContextManager({ limits: { max_store_bytes: 400_000, eviction: "lru" }, firewall: {} });
    const compact = (i) => manager.compact(text(i, Math.max(12_000, 60_000 * part)));
    return { change: compact, times: 170 };
  },
  "results of MCP tools of which only the log stays": (cw, part) => {
    const manager = new cw.ContextManager({ limits: { max_store_bytes: 400_000, eviction: "lru" } });
    const change = (i) => {
      // The results since the last turn of the user are evicted last.
      manager.ingest({ id: `u${i}`, kind: "user_turn", text: "go on" });
      manager.ingest({ id: `c${i}`, kind: "tool_call", text: "read()" });
      manager.ingestMcpResult({
        tool_call_id: `c${i}`,
        tool_name: "read",
        result: { content: [{ type: "text", text: text(i, Math.max(12_000, 60_000 * part)) }] },
      });
    };
    return { change, times: 170 };
  },
  "summaries of a result, each in place of the last": (cw, part) => {
    const manager = new cw.ContextManager();
    manager.ingestToolResult({ tool_call_id: "c", tool_name: "read", raw_output: text(0, 60_000) });
    const change = (i) => manager.supplySummary({ item_id: "result:c", summary: text(i, 2_000 * part), facts: [text(i, 2_000 * part)] });
    return { change, times: 2_000 };
  },
  "a conversation that is handed over again": (cw) => {
    const manager = new cw.ContextManager();
    const messages = [
      { role: "user", content: "read it" },
      call("c"),
      { role: "tool", tool_call_id: "c", content: text(0, 20_000) },
      { role: "assistant", content: "done" },
    ];
    return {
      change: () =>
        manager.syncMessages(
          messages.map((message) => ({ ...message })),
          "openai-chat",
        ),
      times: 5_000,
    };
  },
  "prompts that are laid out for a cache": (cw) => {
    const manager = new cw.ContextManager();
    manager.ingestAll(Array.from({ length: 20 }, (_, at) => ({ id: `i${at}`, kind: "user_turn", text: text(at, 200) })));
    return { change: (i) => manager.build({ phase: "answer", query: `word${i % 20}`, budget_tokens: 300 + (i % 3), running: true }), times: 2_000 };
  },
  "steps of a running prompt that nothing is added to, and records of them": (cw, part) => {
    const manager = new cw.ContextManager();
    manager.ingestAll(Array.from({ length: 20 }, (_, at) => ({ id: `i${at}`, kind: "user_turn", text: text(at, 2_000 * part) })));
    const change = (i) => {
      const { pack } = manager.buildMessages({ phase: "answer", format: "openai-chat", query: text(i, 400 * part), budget_tokens: 40_000 });
      if (i % 10 === 0 && !pack.prompt.includes("word19")) throw new Error("the record is not of the prompt");
    };
    return { change, times: 2_000 };
  },
  "facts and episodes": (cw, part) => {
    const manager = new cw.ContextManager();
    const change = (i) => {
      manager.facts.put({ fact_id: `f${i % 5}`, key: "k", value: text(i, 10_000 * part) });
      manager.addEpisode({ episode_id: `e${i}`, summary: text(i, 10_000 * part) });
      if (i > 4) manager.episodes.delete(`e${i - 5}`);
    };
    return { change, times: 500 };
  },
  "facts that are made of episodes again": (cw) => {
    const manager = new cw.ContextManager();
    for (let at = 0; at < 4; at += 1) manager.addEpisode({ episode_id: `e${at}`, summary: text(0, 2_000), metadata: { session_id: `s${at}` } });
    return { change: () => manager.consolidate({ apply: true }), times: 1_000 };
  },
  "tools of a catalog": (cw, part) => {
    const catalog = new cw.Catalog();
    const change = (i) => {
      catalog.register(tool(`t.n${i}`, { description: text(i, 8_000 * part) }));
      if (i > 4) catalog.remove(`t.n${i - 5}`);
    };
    return { change, times: 1200 };
  },
  "tools of a router, and their vectors": (cw, part) => {
    const catalog = new cw.Catalog([tool("a"), tool("b")]);
    const router = new cw.Router(catalog);
    const vector = (i) => Array.from({ length: 512 * part }, (_, at) => Math.sin(i + at));
    const change = (i) => {
      router.add([tool(`t.n${i}`, { description: text(i, 2_000 * part) })]);
      router.setEmbeddings({ a: vector(i), b: vector(i + 1) });
      router.remove([`t.n${i}`]);
    };
    return { change, times: 400 };
  },
  "imports of decisions": (cw, part) => {
    const source = new cw.DecisionStore({ clock: () => 0, new_id: () => "aaaa" });
    const store = new cw.DecisionStore();
    const change = async (i) => {
      if (i === 0) await source.callTool("log_decision", { decision: text(i, 15_000 * part), confidence: 1, category: "process" });
      store.import(JSON.stringify(source), { mode: "replace" });
    };
    return { change, times: 500 };
  },
  "decisions that are changed and asked for": (cw, part) => {
    const store = new cw.DecisionStore({ clock: () => 0, new_id: () => "aaaa" });
    const change = async (i) => {
      if (i === 0) await store.callTool("log_decision", { decision: "Use SQLite", confidence: 1, category: "process" });
      // Not reviewed again: every review of a decision is kept, as what was learned.
      await store.callTool("update_decision", { id: "aaaa", context: text(i, 8_000 * part) });
      await store.callTool("query_decisions", { query: text(i, 400 * part) });
    };
    return { change, times: 1_200 };
  },
  "guardrails that come and go": (cw, part) => {
    const store = new cw.DecisionStore({ clock: () => 0 });
    const change = async (i) => {
      store.addGuardrails([
        { id: `g${i}`, description: text(i, 8_000 * part), conditions: [{ field: "category", operator: "eq", value: "x" }], action: "warn", message: "no" },
      ]);
      await store.callTool("check_action", { description: text(i, 400 * part), category: "x" });
      store.removeGuardrail(`g${i}`);
    };
    return { change, times: 1_200 };
  },
  "objects that are made and freed": (cw) => {
    const change = (i) => {
      const manager = new cw.ContextManager();
      manager.ingest({ id: "u", kind: "user_turn", text: text(i, 4_000) });
      const catalog = new cw.Catalog([tool("a", { description: text(i, 4_000) })]);
      const router = new cw.Router(catalog);
      router.route("word");
      const store = new cw.DecisionStore();
      for (const object of [manager, catalog, router, store]) object.free();
    };
    return { change, times: 300 };
  },
  "calls that fail": (cw, part) => {
    const manager = new cw.ContextManager();
    const catalog = new cw.Catalog([tool("a")]);
    const refused = (run) => {
      try {
        run();
      } catch {
        return;
      }
      throw new Error("was accepted");
    };
    const change = (i) => {
      refused(() => manager.ingest({ id: "u", kind: "nonsense", text: text(i, 10_000 * part) }));
      refused(() => manager.build({ phase: "answer", pin: [text(i, 10_000 * part)] }));
      refused(() => catalog.register(tool("a", { description: text(i, 10_000 * part) })));
    };
    return { change, times: 800 };
  },
};

/** Changes of each object where that may take minutes. */
const MANY = 100_000;

/** Runs the cases: enough changes to show what is kept of each, or, where that may take `long`, many. */
export async function runMemoryCases(cw, env, long = false) {
  const results = [];
  for (const [name, make] of Object.entries(memoryCases)) {
    try {
      const { change, times } = make(cw, long ? 1 / 16 : 1);
      const { held, engine } = await growth(env, change, long ? Math.max(MANY, times) : times);
      const error = `grew by ${held.toFixed(1)} MiB, the engine by ${engine.toFixed(1)} MiB`;
      results.push({ name, ok: held <= LIMIT && engine <= LIMIT, error, held, engine });
    } catch (error) {
      results.push({ name, ok: false, error: `${error?.stack ?? error}` });
    }
  }
  return results;
}
