// Judges what the package makes of random conversations by what the real converters would send: nothing is refused, and nothing is
// lost without a word. A worker of `message-oracles.test.mjs` for one converter.
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { packageDir } from "./harness.mjs";
import { CONVERTERS, langchainMessages } from "./oracle-converters.mjs";
import { HEADS, base64Of, conversation } from "./oracle-conversations.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";
import { random } from "./random-logs.mjs";

const dist = (name) => import(pathToFileURL(join(packageDir, "dist", name)));
const { ContextManager, ContextWeaverError } = await dist("index.js");
const { contextWeaver: langchainWeaver } = await dist("langchain.js");

globalThis.AI_SDK_LOG_WARNINGS = false;
const EVERYTHING = 200_000;

/** Budgets from what hardly holds a turn up to everything. */
const budgetOf = (draw) => (draw.chance(0.25) ? EVERYTHING : Math.round(60 * 2 ** (draw.below(900) / 100)));

/** What was built, or nothing where the budget is too small for what must be sent. */
function builtOf(build, budget) {
  try {
    return build();
  } catch (error) {
    if (!ContextWeaverError.is(error, "BUDGET_EXCEEDED") || budget === EVERYTHING) throw error;
    return undefined;
  }
}

const MARK = /#\d+#/g;
const marksOf = (value) => [...new Set(JSON.stringify(value).match(MARK) ?? [])];

/** Warnings that say that what only its provider understands is not there. */
const OPAQUE = ["OPAQUE_LEFT_OUT", "MEDIA_LEFT_OUT", "REASONING_INCOMPLETE", "EMPTY_LEFT_OUT", "APPROVAL_LEFT_OUT"];

/** Marks of what is not in a request and of which nothing says so. */
function lost({ said, kinds, sent, built, handed, manager, told }) {
  const missing = marksOf(said).filter((mark) => !sent.includes(mark));
  if (missing.length === 0) return [];
  const { stats, items } = built.pack;
  const partly = items.filter(({ rendered_as: as }) => as !== "whole").map(({ id }) => id);
  const known = new Set([...stats.dropped_items.map(({ item_id: id }) => id), ...partly]);
  const isTold = told.some(({ code }) => OPAQUE.includes(code));
  const log = manager.events.list();
  // The log has a digest of a large result.
  const bytes = manager.artifacts.list().map(({ handle }) => manager.artifacts.bytes(handle));
  const stored = bytes.map((one) => Buffer.from(one).toString()).join("\n");
  return missing.filter((mark) => {
    if (kinds[mark] !== "text" && kinds[mark] !== "call" && isTold) return false;
    // Calls go with the reasoning that led to them.
    if (kinds[mark] === "call" && told.some(({ code }) => code === "REASONING_INCOMPLETE")) return false;
    if (stored.includes(mark)) return false;
    // Fields that LangChain has beside a message go with it.
    if (handed && kinds[mark] === "reasoning" && stats.dropped_items.length > 0) return false;
    return !log.some((item) => known.has(item.id) && JSON.stringify(item).includes(mark));
  });
}

/** Every file of random conversations. */
const FILES = new Set(Object.keys(HEADS).flatMap((type) => Array.from({ length: 400 }, (_, number) => base64Of(type, number))));

/** Files that stand in a request otherwise than they were said. */
const broken = (sent) => (sent.match(/(?:iVBORw0KGgo|JVBERi0|UklGR)[A-Za-z0-9+/]*={0,2}/g) ?? []).filter((text) => !FILES.has(text));

/** What is wrong with one request. */
function complaint(name, request, context) {
  const wrong = PROVIDER_RULES[CONVERTERS[name].rules](request);
  if (wrong) return wrong;
  const sent = JSON.stringify(request);
  const torn = broken(sent);
  if (torn.length > 0) return `media are not what they were: ${torn[0].slice(0, 40)}`;
  const gone = lost({ ...context, sent: JSON.stringify(context.handed ?? [context.built.messages, context.built.system]) });
  return gone.length > 0 ? `${gone} is gone without a word` : undefined;
}

/** Where the model is asked: before each answer, and at the end. */
function endsOf(messages, draw) {
  const isModels = ({ role, type, class: name }) =>
    role === "assistant" || role === "model" || name === "AIMessage" || (role === undefined && type !== undefined && !type.endsWith("_output"));
  const ends = messages.flatMap((message, at) => (at > 0 && isModels(message) && !isModels(messages[at - 1]) ? [at] : []));
  return [...ends.filter(() => draw.chance(0.4)), messages.length];
}

async function judgedByBuild(name, said, how) {
  const { format, ask } = CONVERTERS[name];
  const from = said.form.split("/")[0];
  const options = said.system === undefined ? {} : { system: said.system };
  const manager = new ContextManager();
  // A running prompt tells each warning once.
  const told = [];
  try {
    const draw = random(how.seed);
    const ends = how.running ? endsOf(said.messages, draw) : [said.messages.length];
    for (const end of ends) {
      const messages = said.messages.slice(0, end);
      told.push(...manager.syncMessages(messages, from, options).warnings);
      for (const budget of how.running ? [how.budgets[0]] : how.budgets) {
        const built = builtOf(
          () => manager.buildMessages({ phase: "answer", query: "", budget_tokens: budget, format, close_calls: true, running: how.running }),
          budget,
        );
        // A conversation that says nothing at its end, or in which nobody asks, may leave nothing.
        if (!built || (built.messages.length === 0 && (marksOf(messages.at(-1)).length === 0 || !messages.some(({ role }) => role === "user")))) continue;
        told.push(...built.warnings);
        assert.ok(built.tokens <= budget, `${built.tokens} of ${budget} tokens`);
        let request;
        try {
          request = await ask(built, how);
        } catch (error) {
          return `at ${budget}: the converter throws ${error.name}: ${error.message}`;
        }
        const wrong = complaint(name, request, { said: messages, kinds: said.kinds, built, manager, told });
        // A conversation that ends as it was handed over ends so without the package, too.
        if (wrong === "white space at the end" && isDeepStrictEqual(built.messages.at(-1), messages.at(-1))) continue;
        if (wrong) return `${how.running ? `running to ${end}` : "single"} at ${budget}: ${wrong}`;
      }
    }
    return undefined;
  } catch (error) {
    return `${error.name} ${error.code ?? ""}: ${error.message} ${error.path ?? ""}`;
  } finally {
    manager.free();
  }
}

/** LangChain's agents have the middleware, as their users do. */
async function judgedByLangChain(name, said, how) {
  const budget = how.budgets[0];
  let step;
  const told = [];
  const weaver = langchainWeaver({ budget_tokens: budget, on_step: (one) => (step = one) });
  try {
    const all = langchainMessages(said.messages);
    const hasSystem = said.messages[0]?.class === "SystemMessage";
    for (const end of endsOf(said.messages, random(how.seed))) {
      const messages = all.slice(hasSystem ? 1 : 0, end);
      if (messages.length === 0) continue;
      const systemMessage = hasSystem ? all[0] : langchainMessages([{ class: "SystemMessage", content: "" }])[0];
      const request = { model: { model: "gpt-5" }, messages, systemMessage, tools: [], state: { messages }, runtime: { configurable: { thread_id: "t" } } };
      let asked;
      try {
        await weaver.wrapModelCall(request, (given) => ((asked = given), langchainMessages([{ class: "AIMessage", content: "ok" }])[0]));
      } catch (error) {
        if (!ContextWeaverError.is(error, "BUDGET_EXCEEDED") || budget === EVERYTHING) throw error;
        continue;
      }
      const list = [...(asked.systemMessage.content === "" ? [] : [asked.systemMessage]), ...asked.messages];
      let sent;
      try {
        sent = await CONVERTERS[name].ask({ messages: list }, how);
      } catch (error) {
        return `at ${budget}: the converter throws ${error.name}: ${error.message}`;
      }
      told.push(...step.synced.warnings, ...step.warnings);
      const wrong = complaint(name, sent, {
        said: said.messages.slice(0, end),
        kinds: said.kinds,
        built: step.built,
        handed: list,
        manager: weaver.manager,
        told,
      });
      if (wrong) return `running to ${end} at ${budget}: ${wrong}`;
    }
    return undefined;
  } catch (error) {
    return `${error.name} ${error.code ?? ""}: ${error.message} ${error.path ?? ""}`;
  } finally {
    weaver.free();
  }
}

const judged = (name, said, how) => (CONVERTERS[name].format === "langchain" ? judgedByLangChain : judgedByBuild)(name, said, how);

function caseOf(name, seed) {
  const draw = random(seed);
  const { forms, types, foreign = [] } = CONVERTERS[name];
  const form = draw.pick(forms);
  const said = conversation(draw, form, { types, hasServers: !foreign.includes(form) });
  const how = { seed, at: seed, store: draw.chance(0.3), running: draw.chance(0.5), budgets: [budgetOf(draw), budgetOf(draw), EVERYTHING] };
  return { said, how };
}

/** What a complaint is about, without the numbers in it. */
const kindOf = (wrong = "") =>
  wrong
    .replace(/^(at|running|single)[^:]*: /, "")
    .replace(/(#\d+#,?)+/g, "#")
    .replace(/\d+/g, "N")
    .slice(0, 110);

/** Leaves out messages as long as it still fails. */
async function shrunk(name, said, how) {
  let messages = said.messages;
  const kind = kindOf(await judged(name, said, how));
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const fewer = messages.filter((_, index) => index !== at);
    if (messages[at].type !== "reasoning" && fewer.length > 0 && kindOf(await judged(name, { ...said, messages: fewer }, how)) === kind) messages = fewer;
  }
  return { ...said, messages };
}

async function report(name, seed, { said, how }) {
  const small = await shrunk(name, said, how);
  const wrong = await judged(name, small, how);
  return `ORACLE_CONVERTER="${name}" ORACLE_SEED=${seed}, ${said.form}: ${wrong}\n${JSON.stringify(small.messages).slice(0, 3_000)}`;
}

/** The seeds that fail, and of the first one what fails, with the fewest messages. */
async function failures({ name, from, count }) {
  const failed = [];
  let told;
  for (let seed = from; seed < from + count; seed += 1) {
    const one = caseOf(name, seed);
    if (!(await judged(name, one.said, one.how))) continue;
    failed.push(seed);
    told ??= await report(name, seed, one);
  }
  return { failed, told };
}

if (!isMainThread && workerData?.name !== undefined) parentPort.postMessage(await failures(workerData));
