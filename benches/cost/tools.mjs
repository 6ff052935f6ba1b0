// What 500 tools cost: one conversation with eight questions of a user, each answered by other tools. Providers put the definitions of
// tools before the messages, so a list that changes makes the whole prompt new.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { catalog } from "../synthetic-tools.mjs";
import { conversation } from "./conversation.mjs";
import { PRICES } from "./prices.mjs";
import { lengthOf, repeats, tokensOf } from "./prompt.mjs";
import { readJson } from "./sets.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const CATALOGS = join(here, "../../examples/catalogs");
const TOOLS = 500;
/** Everything fits: what differs is the list of tools alone. */
const BUDGET = 250_000;
/** Tools that are chosen for a turn, which is what the adapters choose. */
const CHOSEN = 16;
/** A front by which tools are called that are not in the list: their name and arguments are its own arguments. */
const CALL_TOOL = "call_tool";
const FIND_TOOLS = "find_tools";
/** Searches before a step counts as one that had no tool. */
const MOST_SEARCHES = 2;

/** Tools that a search finds at most. */
const FOUND = 8;

const asTool = (name, description, parameters) => ({ type: "function", function: { name, description, parameters } });

const SEARCH = asTool(FIND_TOOLS, "Find tools by what they do.", { type: "object", properties: { query: { type: "string" } }, required: ["query"] });

/** The tools of published servers, and invented ones up to `TOOLS`. Names that two servers share get the name of theirs in front. */
function tools() {
  const lists = readdirSync(CATALOGS)
    .filter((file) => file.endsWith(".json") && file !== "index.json")
    .sort();
  const listed = lists.flatMap((file) =>
    JSON.parse(readFileSync(join(CATALOGS, file), "utf8")).tools.map((tool) => ({ server: file.replace(".json", ""), ...tool })),
  );
  const shared = (name) => listed.filter((tool) => tool.name === name).length > 1;
  const real = listed.map(({ server, name, description, inputSchema }) => asTool(shared(name) ? `${server}_${name}` : name, description, inputSchema));
  const invented = catalog(TOOLS - real.length).map(({ namespace, name, description, args_schema: schema }) =>
    asTool(`${namespace}_${name}`, description, schema),
  );
  return [...real, ...invented];
}

/** The recorded conversation: its messages, of which those of the assistant with a call say which tool is right. */
const recorded = () => conversation(readJson(join(here, "sessions/catalog.json.gz"))).messages;

const nameOf = (tool) => tool.function?.name ?? tool.name;

/** Ways to offer tools: { fit(messages) gives {tools, messages}; answer(call) of a search, find(query), end() }. */
function offers({ contextWeaver, Router }, all) {
  return {
    "all tools": () => ({ fit: (messages) => ({ tools: all, messages }), end() {} }),
    "a list chosen anew each turn": () => {
      const router = new Router(
        all.map(({ function: { name, description, parameters } }) => ({ id: name, kind: "tool", name, description, args_schema: parameters })),
      );
      const lists = new Map();
      const found = new Set();
      const choose = (query, most) => router.route(query, { top_k: most }).candidate_ids;
      const fit = (messages) => {
        const { content } = messages.findLast(({ role }) => role === "user");
        if (!lists.has(content)) lists.set(content, choose(content, CHOSEN));
        const names = new Set([...lists.get(content), ...found]);
        return { tools: [...all.filter((tool) => names.has(nameOf(tool))), SEARCH], messages };
      };
      const answer = ({ id, function: { arguments: given } }) => {
        const names = choose(JSON.parse(given).query, FOUND);
        for (const name of names) found.add(name);
        return { role: "tool", tool_call_id: id, content: names.join("\n") || "No tool fits." };
      };
      return { fit, answer, end: () => router.free() };
    },
    default: () => {
      const loop = contextWeaver({ tools: all, budget_tokens: BUDGET });
      const fit = (messages) => {
        const { tools: offered = [], messages: sent } = loop.fit({ model: "model", messages });
        return { tools: offered, messages: sent };
      };
      return { fit, answer: (call) => loop.answer(call), end: () => loop.free() };
    },
  };
}

/** Replays the conversation: an agent calls the right tool when it is offered, and looks for it when it is not. */
function replayTools(messages, make) {
  const offer = make();
  const sum = { calls: 0, tokens: 0, steps: 0, right: 0, searches: 0, changes: 0, ...Object.fromEntries(Object.keys(PRICES).map((name) => [name, 0])) };
  let before = [];
  let tools = [];
  let told = "";
  const log = [];
  const send = () => {
    const sent = offer.fit([...log]);
    const prompt = [...sent.tools, ...sent.messages];
    const same = repeats(before, prompt);
    const tokens = tokensOf(lengthOf(prompt));
    sum.calls += 1;
    sum.tokens += tokens;
    if (before.length > 0 && lengthOf(sent.tools) !== lengthOf(tools)) sum.changes += 1;
    for (const [name, price] of Object.entries(PRICES)) sum[name] += price(tokens, same);
    [before, tools] = [prompt, sent.tools];
    // What a search found stands in the prompt with how it is called, for later steps too.
    told = sent.messages
      .filter(({ role }) => role !== "assistant")
      .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
      .join("\n");
    return new Set(sent.tools.map(nameOf));
  };
  for (const message of messages) {
    if (message.role !== "assistant") {
      log.push(message);
      continue;
    }
    let offered = send();
    const [call] = message.tool_calls ?? [];
    if (call === undefined) {
      log.push(message);
      continue;
    }
    sum.steps += 1;
    const right = call.function.name;
    const isThere = () => offered.has(right) || (offered.has(CALL_TOOL) && told.includes(`${right}: `));
    let found = isThere();
    for (let search = 0; !found && offered.has(FIND_TOOLS) && search < MOST_SEARCHES; search += 1) {
      // What an agent would look for: the words of its step, then those of its user.
      const query = search === 0 ? message.content : log.findLast(({ role }) => role === "user").content;
      const asked = { id: `search_${sum.searches}`, type: "function", function: { name: FIND_TOOLS, arguments: JSON.stringify({ query }) } };
      sum.searches += 1;
      const answer = offer.answer(asked);
      log.push({ role: "assistant", content: null, tool_calls: [asked] }, answer);
      offered = send();
      found = isThere() || (offered.has(CALL_TOOL) && answer.content.includes(right));
    }
    if (found) sum.right += 1;
    const through = found && !offered.has(right);
    log.push(
      through
        ? {
            ...message,
            tool_calls: [
              { ...call, function: { name: CALL_TOOL, arguments: JSON.stringify({ name: right, arguments: JSON.parse(call.function.arguments) }) } },
            ],
          }
        : message,
    );
  }
  offer.end();
  return sum;
}

/** The figures of all ways to offer tools, their cost as a share of all tools in every call. */
export function measureTools(entries) {
  const messages = recorded();
  const sums = Object.entries(offers(entries, tools())).map(([name, make]) => [name, replayTools(messages, make)]);
  const [[, all]] = sums;
  const figure = (sum) => {
    const { right, searches, changes, calls, tokens } = sum;
    return { cost: Object.fromEntries(Object.keys(PRICES).map((name) => [name, sum[name] / all[name]])), right, searches, changes, calls, tokens };
  };
  return { tools: TOOLS, tokens: tokensOf(lengthOf(messages)), steps: all.steps, offers: Object.fromEntries(sums.map(([name, sum]) => [name, figure(sum)])) };
}
