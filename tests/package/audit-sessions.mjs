// Sessions as agents and logs write them, made for the audit's tests.

const START = Date.parse("2026-10-01T09:00:00Z");
const at = (seconds) => new Date(START + seconds * 1000).toISOString();
const WORDS = "order invoice parcel ledger stock branch retry cache token parser schema field index batch queue render layout widget".split(" ");
/** Text of so many words, another one for each seed. */
const prose = (words, seed) =>
  Array.from({ length: words }, (_, n) => `${WORDS[(n * (seed + 3) + seed) % WORDS.length]}${(n * 7 + seed * 131) % 1000}`).join(" ");

const TASK = "Which order is held, and why?";
const USED = "held_order_7713";
/** Calls of tools, each a step; the second result is used by the third, the fourth asks for the first again. */
export const STEPS = [
  { name: "read", args: { path: "orders-1.txt" }, result: `first part\n${prose(60, 1)}` },
  { name: "read", args: { path: "orders-2.txt" }, result: `second part\n${USED} stands here\n${prose(60, 2)}` },
  { name: "search", args: { text: USED }, result: `third part\n${prose(60, 3)}` },
  { name: "read", args: { path: "orders-1.txt" }, result: `first part\n${prose(60, 1)}` },
];
const ANSWER = "It is done.";
const INPUT = [2000, 2900, 3800, 4700, 5600];
const CACHED = [0, 1920, 2816, 3712, 4608];
const OUTPUT = [30, 30, 30, 30, 10];
const total = (list) => list.reduce((sum, value) => sum + value, 0);
export const SUMS = [total(INPUT), total(CACHED), total(OUTPUT)];
export const USD = ((SUMS[0] - SUMS[1]) * 1.25 + SUMS[1] * 0.125 + SUMS[2] * 10) / 1e6;
const MODEL = "gpt-5";

export const AGENT_OF = {
  "openai-chat.jsonl": "request-log",
  "openai-responses.jsonl": "request-log",
  "anthropic.jsonl": "request-log",
  "gemini.jsonl": "request-log",
  "otel.json": "otel",
  "task.traj.json": "mini-swe-agent",
  "openhands-old.json": "openhands",
  "openhands-new.jsonl": "openhands",
  "openhands-events": "openhands",
  "opencode-storage": "opencode",
};

const json = (value) => JSON.stringify(value);
const id = (n) => `call_${n}`;

/** What each provider's log has: the messages of each call, and how an answer says what it cost. */
function requests({ user, call, result, wrap, usage }) {
  const messages = [user(TASK)];
  return INPUT.map((_, n) => {
    const line = {
      timestamp: at(n * 10),
      request: { model: MODEL, ...wrap([...messages]) },
      response: { id: `answer_${n}`, model: MODEL, ...usage(INPUT[n], CACHED[n], OUTPUT[n]) },
    };
    const step = STEPS[n];
    if (step) messages.push(...[call(step, n), result(step, n)].flat());
    return json(line);
  }).join("\n");
}

/** The same conversation in every format. */
export function inEveryFormat() {
  return {
    "openai-chat.jsonl": requests({
      user: (content) => ({ role: "user", content }),
      call: ({ name, args }, n) => ({
        role: "assistant",
        content: null,
        tool_calls: [{ id: id(n), type: "function", function: { name, arguments: json(args) } }],
      }),
      result: ({ result }, n) => ({ role: "tool", tool_call_id: id(n), content: result }),
      wrap: (messages) => ({ messages }),
      usage: (input, cached, output) => ({ usage: { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: { cached_tokens: cached } } }),
    }),
    "openai-responses.jsonl": requests({
      user: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
      call: ({ name, args }, n) => ({ type: "function_call", call_id: id(n), name, arguments: json(args) }),
      result: ({ result }, n) => ({ type: "function_call_output", call_id: id(n), output: result }),
      wrap: (input) => ({ input, prompt_cache_key: "one" }),
      usage: (input, cached, output) => ({ usage: { input_tokens: input, output_tokens: output, input_tokens_details: { cached_tokens: cached } } }),
    }),
    "anthropic.jsonl": requests({
      user: (content) => ({ role: "user", content }),
      call: ({ name, args }, n) => ({ role: "assistant", content: [{ type: "tool_use", id: id(n), name, input: args }] }),
      // The mark moves with each call, and is no part of the message.
      result: ({ result }, n) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id(n), content: result }] }),
      wrap: (messages) => ({
        messages: messages.map((message, n) =>
          n === messages.length - 1 && Array.isArray(message.content)
            ? { ...message, content: message.content.map((block) => ({ ...block, cache_control: { type: "ephemeral" } })) }
            : message,
        ),
      }),
      usage: (input, cached, output) => ({
        usage: { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: output },
      }),
    }),
    "gemini.jsonl": requests({
      user: (text) => ({ role: "user", parts: [{ text }] }),
      call: ({ name, args }, n) => ({ role: "model", parts: [{ functionCall: { id: id(n), name, args } }] }),
      result: ({ name, result }, n) => ({ role: "user", parts: [{ functionResponse: { id: id(n), name, response: { output: result } } }] }),
      wrap: (contents) => ({ contents }),
      usage: (input, cached, output) => ({ usageMetadata: { promptTokenCount: input, cachedContentTokenCount: cached, candidatesTokenCount: output } }),
    }),
    "otel.json": otel(),
    "task.traj.json": miniSweAgent(),
    "openhands-old.json": openHandsOld(),
    "openhands-new.jsonl": openHandsNew(),
    "openhands-events": openHandsEvents(),
    "opencode-storage": openCodeStorage(),
  };
}

function otel() {
  const messages = [{ role: "user", parts: [{ type: "text", content: TASK }] }];
  const spans = INPUT.map((_, n) => {
    const attribute = (key, value) => ({ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } });
    const span = {
      traceId: "1",
      spanId: `span_${n}`,
      name: `chat ${MODEL}`,
      startTimeUnixNano: `${START + n * 10_000}000000`,
      attributes: [
        attribute("gen_ai.operation.name", "chat"),
        attribute("gen_ai.request.model", MODEL),
        attribute("gen_ai.conversation.id", "one"),
        attribute("gen_ai.input.messages", json(messages)),
        attribute("gen_ai.usage.input_tokens", INPUT[n]),
        attribute("gen_ai.usage.cache_read.input_tokens", CACHED[n]),
        attribute("gen_ai.usage.output_tokens", OUTPUT[n]),
      ],
    };
    const step = STEPS[n];
    if (step) {
      messages.push({ role: "assistant", parts: [{ type: "tool_call", id: id(n), name: step.name, arguments: step.args }] });
      messages.push({ role: "tool", parts: [{ type: "tool_call_response", id: id(n), response: step.result }] });
    }
    return span;
  });
  const tool = { spanId: "other", startTimeUnixNano: "1", attributes: [{ key: "gen_ai.operation.name", value: { stringValue: "execute_tool" } }] };
  // Exporters write spans as they end.
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [tool, ...[...spans].reverse()] }] }] }, null, 2);
}

const chatUsage = (n) => ({ prompt_tokens: INPUT[n], completion_tokens: OUTPUT[n], prompt_tokens_details: { cached_tokens: CACHED[n] } });

function miniSweAgent() {
  const messages = [
    { role: "system", content: "You are an agent." },
    { role: "user", content: TASK, extra: { timestamp: START / 1000 } },
  ];
  for (const [n, { name, args, result }] of STEPS.entries()) {
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id: id(n), type: "function", function: { name, arguments: json(args) } }],
      extra: { response: { model: MODEL, usage: chatUsage(n) } },
    });
    messages.push({ role: "tool", tool_call_id: id(n), content: result, extra: { timestamp: START / 1000 + 10 * (n + 1) } });
  }
  messages.push({ role: "assistant", content: ANSWER, extra: { response: { model: MODEL, usage: chatUsage(STEPS.length) } } });
  return JSON.stringify({ info: { mini_version: "2.0.0", model_stats: { api_calls: 5 } }, messages, trajectory_format: "mini-swe-agent-1.1" }, null, 2);
}

function openHandsOld() {
  const events = [{ id: 0, timestamp: at(0), source: "user", action: "message", args: { content: TASK } }];
  for (const [n, { name, args, result }] of STEPS.entries()) {
    const message = { role: "assistant", content: null, tool_calls: [{ id: id(n), type: "function", function: { name, arguments: json(args) } }] };
    const metadata = {
      tool_call_id: id(n),
      function_name: name,
      model_response: { id: `answer_${n}`, model: MODEL, usage: chatUsage(n), choices: [{ message }] },
    };
    events.push({ id: 2 * n + 1, timestamp: at(n * 10 + 1), source: "agent", action: "run", args: { command: "x" }, tool_call_metadata: metadata });
    events.push({
      id: 2 * n + 2,
      timestamp: at(n * 10 + 2),
      source: "agent",
      observation: "run",
      cause: 2 * n + 1,
      content: result,
      tool_call_metadata: metadata,
    });
  }
  const last = { id: "answer_4", model: MODEL, usage: chatUsage(4), choices: [{ message: { role: "assistant", content: ANSWER } }] };
  events.push({
    id: 99,
    timestamp: at(60),
    source: "agent",
    action: "finish",
    args: {},
    tool_call_metadata: { tool_call_id: "f", function_name: "finish", model_response: last },
  });
  return JSON.stringify(events, null, 1);
}

function openHandsNew() {
  const history = [
    { kind: "SystemPromptEvent", timestamp: at(0), source: "agent", system_prompt: { type: "text", text: "You are an agent." }, tools: [{ name: "read" }] },
    { kind: "MessageEvent", timestamp: at(0), source: "user", llm_message: { role: "user", content: [{ type: "text", text: TASK }] } },
  ];
  for (const [n, { name, args, result }] of STEPS.entries()) {
    history.push({
      kind: "ActionEvent",
      timestamp: at(n * 10 + 1),
      source: "agent",
      thought: [],
      tool_call: { id: id(n), name, arguments: json(args) },
      tool_call_id: id(n),
      llm_response_id: `answer_${n}`,
    });
    history.push({
      kind: "ObservationEvent",
      timestamp: at(n * 10 + 2),
      source: "environment",
      tool_call_id: id(n),
      observation: { content: [{ type: "text", text: result }] },
    });
  }
  history.push({
    kind: "MessageEvent",
    timestamp: at(60),
    source: "agent",
    llm_response_id: "answer_4",
    llm_message: { role: "assistant", content: [{ type: "text", text: ANSWER }] },
  });
  const token_usages = INPUT.map((input, n) => ({
    model: MODEL,
    response_id: `answer_${n}`,
    prompt_tokens: input,
    completion_tokens: OUTPUT[n],
    cache_read_tokens: CACHED[n],
    cache_write_tokens: 0,
  }));
  return json({ instance_id: "one", history, metrics: { token_usages } });
}

/** The same with a file for each event, by their paths. */
function openHandsEvents() {
  const { history, metrics } = JSON.parse(openHandsNew());
  const files = { "base_state.json": json({ id: "one", stats: { usage_to_metrics: { agent: metrics } } }) };
  for (const [n, event] of history.entries()) files[`events/event-${String(n).padStart(5, "0")}-x.json`] = json(event);
  return files;
}

/** Files of the folder `storage`, by their paths. */
function openCodeStorage() {
  const files = { "session/global/ses_1.json": json({ id: "ses_1", title: "One", time: { created: START } }) };
  const message = (n, info, parts) => {
    const own = `msg_${String(n).padStart(3, "0")}`;
    files[`message/ses_1/${own}.json`] = json({ id: own, sessionID: "ses_1", ...info });
    for (const [at, part] of parts.entries()) files[`part/${own}/prt_${at}.json`] = json(part);
  };
  message(0, { role: "user", time: { created: START } }, [{ type: "text", text: TASK }]);
  for (const n of INPUT.keys()) {
    const step = STEPS[n];
    const tokens = { input: INPUT[n] - CACHED[n], output: OUTPUT[n], reasoning: 0, cache: { read: CACHED[n], write: 0 } };
    const part = step
      ? { type: "tool", tool: step.name, callID: id(n), state: { status: "completed", input: step.args, output: step.result } }
      : { type: "text", text: ANSWER };
    message(n + 1, { role: "assistant", modelID: MODEL, tokens, time: { created: START + n * 10_000, completed: START + n * 10_000 + 5000 } }, [
      { type: "step-start" },
      part,
      { type: "step-finish", tokens },
    ]);
  }
  return files;
}

/** A log whose calls lose the cache, one after the other, and why each does. */
export function brokenLog(model = "gpt-5") {
  const log = [];
  let messages = [{ role: "user", content: prose(900, 5) }];
  let [seconds, system, tools, asked] = [0, "Be brief.", ["read"], model];
  const call = (usage) => {
    seconds += 20;
    const definitions = tools.map((name) => ({ type: "function", function: { name, description: "A tool", parameters: { type: "object" } } }));
    log.push({
      timestamp: at(seconds),
      request: { model: asked, instructions: system, prompt_cache_key: "one", messages: [...messages], tools: definitions },
      ...(usage && { response: { usage } }),
    });
  };
  const grow = (seed) => (messages = [...messages, { role: "assistant", content: `Step ${seed}` }, { role: "user", content: prose(40, seed) }]);
  call();
  grow(11);
  call();
  grow(12);
  seconds += 700;
  call(); // 3
  grow(13);
  tools = ["read", "write"];
  call(); // 4
  grow(14);
  system = "Be very brief.";
  call(); // 5
  grow(15);
  asked = `${model}-mini`;
  call(); // 6
  messages = [...messages.slice(0, -2), { role: "user", content: "Leave that, go on with this." }];
  call(); // 7
  messages = [{ role: "user", content: `Summary: ${prose(900, 21)}` }];
  call(); // 8
  grow(16);
  call({ prompt_tokens: 4200, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 0 } }); // 9
  return {
    log,
    broken: [
      [3, "pause"],
      [4, "tools"],
      [5, "instructions"],
      [6, "model"],
      [7, "edit"],
      [8, "compaction"],
      [9, "provider"],
    ],
  };
}

/** A log of a router that asks two providers in turn, why calls lost the cache, and what each but the first could have read from it. */
export function routedLog() {
  const inputs = [4000, 5000, 6000, 7000, 8000];
  const providers = ["A", "A", "B", "A", "A"];
  // Steps of 128 tokens, of what the same provider was sent last.
  const possible = [3968, 0, 4992, 6912];
  const read = [0, 3968, 0, 4992, 0];
  const messages = [{ role: "user", content: prose(900, 51) }];
  const log = inputs.map((input, n) => {
    const line = {
      timestamp: at(n * 10),
      request: { model: "gpt-5", messages: [...messages] },
      response: {
        id: `r${n}`,
        provider: providers[n],
        usage: { prompt_tokens: input, completion_tokens: 5, prompt_tokens_details: { cached_tokens: read[n] } },
      },
    };
    messages.push({ role: "assistant", content: `Step ${n}` }, { role: "user", content: prose(100, 52 + n) });
    return line;
  });
  return {
    log,
    broken: [
      [3, "route"],
      [5, "provider"],
    ],
    cached: possible,
  };
}

/** Two files of Claude Code: one with an answer in several lines, a rewind and a subagent, and one that goes on from it. */
export function claudeTwice() {
  let seconds = 0;
  const line = (uuid, parentUuid, rest) => ({ uuid, parentUuid, sessionId: "s-1", isSidechain: false, timestamp: at((seconds += 5)), ...rest });
  const user = (uuid, parent, content, rest) => line(uuid, parent, { type: "user", message: { role: "user", content }, ...rest });
  const answer = (uuid, parent, message, block, rest) =>
    line(uuid, parent, {
      type: "assistant",
      requestId: `req_${message}`,
      message: {
        id: message,
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [block],
        usage: { input_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 2000, output_tokens: 20 },
      },
      ...rest,
    });
  const tool = (n) => ({ type: "tool_use", id: `t${n}`, name: "Read", input: { file_path: `f${n}` } });
  const result = (n) => [{ type: "tool_result", tool_use_id: `t${n}`, content: `text ${n} ${prose(30, n)}` }];
  const side = { isSidechain: true, agentId: "a1" };
  const first = [
    { type: "summary", summary: "A title", leafUuid: "x" },
    user("u1", null, TASK),
    answer("a1", "u1", "m1", { type: "text", text: "I look." }),
    answer("a2", "a1", "m1", tool(1)),
    user("r1", "a2", result(1)),
    answer("a3", "a2", "m1", tool(2)),
    answer("a4", "a3", "m1", tool(3)),
    user("r2", "a3", result(2)),
    user("s1", null, "Look elsewhere.", side),
    answer("s2", "s1", "m9", { type: "text", text: "Nothing there." }, side),
    user("r3", "a4", result(3)),
  ];
  const one = [
    ...first,
    answer("a5", "r3", "m2", { type: "text", text: "It is order 1." }),
    user("u2", "r3", "No, look at the second."),
    answer("a6", "u2", "m3", { type: "text", text: "It is order 2." }),
  ];
  const copied = first.filter(({ isSidechain }) => isSidechain === false);
  const other = [
    ...copied,
    { ...user("u3", "r3", "And why?"), sessionId: "s-2" },
    { ...answer("a7", "u3", "m4", { type: "text", text: "As it is not paid." }), sessionId: "s-2" },
  ];
  return [one, other];
}

/** A log in which three results are sent in several calls; what each costs is computed over whole prompts. */
export function resultLog() {
  const messages = [{ role: "user", content: prose(900, 7) }];
  const prompts = [[...messages]];
  const step = (marker, content, said) => {
    messages.push({
      role: "assistant",
      content: said ?? null,
      tool_calls: [{ id: marker, type: "function", function: { name: "read", arguments: json({ path: marker }) } }],
    });
    messages.push({ role: "tool", tool_call_id: marker, content });
    prompts.push([...messages]);
  };
  step("alpha.md", `copied_from_alpha\n${prose(300, 31)}`);
  step("beta.md", prose(100, 32));
  step("gamma.md", prose(500, 33));
  step("delta.md", prose(20, 34), "Now copied_from_alpha.");
  step("epsilon.md", prose(20, 35));
  const log = prompts.map((sent) => ({ request: { model: "gpt-5", messages: sent } }));
  const size = (count, message) => {
    const calls = message.tool_calls ?? [];
    const texts = [message.content ?? "", ...calls.map((call) => `${call.function.name} ${call.function.arguments}`)].filter((text) => text !== "");
    return count(texts.join("\n")) + 4 * (1 + calls.length);
  };
  const own = (marker) => messages.find((message) => message.tool_call_id === marker);
  const cost = (marker) => (count) => {
    const tokens = size(count, own(marker));
    const holds = prompts.flatMap((prompt, n) => (prompt.includes(own(marker)) ? [n] : []));
    return holds.reduce((sum, n, first) => {
      if (first === 0) return sum + tokens;
      const before = prompts[n - 1].reduce((all, message) => all + size(count, message), 0);
      const hit = Math.floor(before / 128) * 128;
      return sum + (tokens * (hit * 0.1 + before - hit)) / before;
    }, 0);
  };
  const entry = (marker, calls, idle) => ({ marker, calls, idle, tokens: (count) => size(count, own(marker)), cost: cost(marker) });
  // The fourth call's answer copies from alpha, which two more calls have.
  return { log, sizes: [entry("alpha.md", 5, 2), entry("beta.md", 4, 3), entry("gamma.md", 3, 2)] };
}

/** A log of a conversation that no budget of the tests holds, and its prompts. */
export function longLog(extra = "") {
  const messages = [{ role: "user", content: `Go through the files. ${extra}` }];
  const prompts = [];
  for (let n = 0; n < 24; n += 1) {
    prompts.push([...messages]);
    messages.push({
      role: "assistant",
      content: `Step ${n}.`,
      tool_calls: [{ id: `c${n}`, type: "function", function: { name: "read", arguments: json({ path: `file-${n}.txt`, ...(extra && { note: extra }) }) } }],
    });
    messages.push({ role: "tool", tool_call_id: `c${n}`, content: prose(n % 3 === 0 ? 450 : 120, n + 40) });
  }
  prompts.push([...messages]);
  return { log: prompts.map((sent) => ({ request: { model: "gpt-5", messages: sent } })), prompts };
}

/** Lines of a log of many conversations, one after the other, each of so many bytes in ten calls. */
export function* manyConversations(count, bytes) {
  for (let one = 0; one < count; one += 1) {
    const messages = [{ role: "user", content: `Task ${one}` }];
    const step = prose(Math.ceil(bytes / 55 / 9), one);
    for (let n = 0; n < 10; n += 1) {
      yield `${json({ request: { model: "gpt-5", messages } })}\n`;
      messages.push({ role: "assistant", content: `Step ${n}` }, { role: "user", content: `${n} ${step}` });
    }
  }
}

/** What a log may have in place of what it should. */
const ODD = [null, 0, -1, "", "x", [], {}, [[]], { a: 1 }, true, 1e308, "\ud800", "2026-13-99T00:00:00Z", ["a", null], { type: "text" }];

/** A text of JSON or JSON Lines in which values were replaced, left out or put in twice; the same for the same seed. */
export function damaged(text, seed) {
  let state = seed;
  const random = (below) => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) % below;
  const isHit = () => random(1000) < 4 + (seed % 25);
  const damage = (value) => {
    if (isHit()) return ODD[random(ODD.length)];
    if (Array.isArray(value)) return value.flatMap((one) => (isHit() ? [damage(one), damage(one)] : [damage(one)]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(() => !isHit())
        .map(([key, one]) => [key, damage(one)]),
    );
  };
  const damagedLine = (line) => json(damage(JSON.parse(line)));
  return text.trimStart().includes("\n{") ? text.trim().split("\n").map(damagedLine).join("\n") : damagedLine(text);
}

/** Forms that agents wrote in other versions, and what happens in their sessions: files, and what the audit counts in each. */
export function otherForms() {
  const said = (role, text) => ({ type: "message", role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }] });
  const shell = (n) => [
    { type: "function_call", call_id: id(n), name: "shell", arguments: '{"command":["ls"]}' },
    { type: "function_call_output", call_id: id(n), output: `files ${prose(30, n)}` },
  ];
  const wrapped = (payload, n) => ({ timestamp: at(n), type: "response_item", payload });
  const count = (input, n) => ({
    timestamp: at(n),
    type: "event_msg",
    payload: {
      type: "token_count",
      info: { total_token_usage: { total_tokens: input * 10 + n }, last_token_usage: { input_tokens: input, cached_input_tokens: 0, output_tokens: 5 } },
    },
  });
  const twice = (input, n) => [count(input, n), count(input, n)];
  const tokens = (input) => ({ input, output: 5, cached: 0, thoughts: 2, tool: 0, total: input + 7 });
  return {
    // Items without anything around them, and no counts.
    "rollout-old.jsonl": {
      text: [{ id: "1", timestamp: at(0), instructions: "Be brief." }, said("user", "Look."), ...shell(1), ...shell(2), said("assistant", "Done.")],
      calls: 3,
      results: 2,
      tokens: undefined,
    },
    // A count is told twice, a turn is rolled back, the session is a subagent's.
    "rollout-rolled.jsonl": {
      text: [
        { timestamp: at(0), type: "session_meta", payload: { id: "s", source: { subagent: { thread_spawn: { parent_thread_id: "p" } } } } },
        { timestamp: at(0), type: "turn_context", payload: { model: "gpt-5" } },
        ...[said("user", "First."), said("assistant", "One.")].map(wrapped),
        ...twice(100, 3),
        ...[said("user", "Second."), said("assistant", "Two.")].map(wrapped),
        ...twice(200, 5),
        { timestamp: at(6), type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } },
        ...[said("user", "Third."), said("assistant", "Three.")].map(wrapped),
        ...twice(201, 8),
      ],
      calls: 3,
      results: 0,
      tokens: 501,
      edits: 1,
      parent: "p",
    },
    // A document, whose calls have their results.
    "session-old.json": {
      text: {
        sessionId: "g",
        projectHash: "h",
        startTime: at(0),
        messages: [
          { id: "1", timestamp: at(0), type: "user", content: "Look." },
          {
            id: "2",
            timestamp: at(5),
            type: "gemini",
            content: "",
            model: "gemini-2.5-flash",
            tokens: tokens(300),
            toolCalls: [
              { id: "t", name: "read_file", args: { path: "a" }, result: [{ functionResponse: { id: "t", name: "read_file", response: { output: "text" } } }] },
            ],
          },
          { id: "3", timestamp: at(6), type: "info", content: "A note." },
          { id: "4", timestamp: at(9), type: "gemini", content: "Done.", model: "gemini-2.5-flash", tokens: tokens(400) },
        ],
      },
      calls: 2,
      results: 1,
      tokens: 700,
    },
    // A summary from which the session goes on, and a message of two steps.
    "compacted.json": {
      text: {
        info: { id: "ses_2", parentID: "ses_1", time: { created: START } },
        messages: [
          { info: { role: "user", time: { created: START } }, parts: [{ type: "text", text: "Look." }] },
          {
            info: { id: "m1", role: "assistant", modelID: "gpt-5", time: { created: START, completed: START + 9000 } },
            parts: [
              { type: "step-start" },
              {
                type: "tool",
                tool: "read",
                callID: "c1",
                state: { status: "completed", input: { path: "a" }, output: prose(40, 1), time: { end: START + 3000 } },
              },
              { type: "step-finish", tokens: { input: 500, output: 5, cache: { read: 0, write: 0 } } },
              { type: "step-start" },
              { type: "text", text: "Done." },
              { type: "step-finish", tokens: { input: 600, output: 5, cache: { read: 0, write: 0 } } },
            ],
          },
          {
            info: {
              id: "m2",
              role: "assistant",
              summary: true,
              modelID: "gpt-5",
              tokens: { input: 700, output: 5, cache: { read: 0, write: 0 } },
              time: { created: START },
            },
            parts: [{ type: "text", text: "It was looked at." }],
          },
          { info: { role: "user", time: { created: START } }, parts: [{ type: "text", text: "Go on." }] },
          {
            info: { id: "m3", role: "assistant", modelID: "gpt-5", tokens: { input: 300, output: 5, cache: { read: 0, write: 0 } }, time: { created: START } },
            parts: [{ type: "text", text: "Yes." }],
          },
        ],
      },
      calls: 4,
      results: 1,
      tokens: 2100,
      compactions: 1,
      parent: "ses_1",
    },
    // A stream as text, and the body of a request as text.
    "streamed.jsonl": {
      text: [
        {
          timestamp: START / 1000,
          request: json({ model: "claude-haiku-4-5", max_tokens: 9, messages: [{ role: "user", content: [{ type: "text", text: "Look." }] }] }),
          response: `event: message_start\ndata: ${json({ type: "message_start", message: { id: "m", usage: { input_tokens: 40, cache_read_input_tokens: 0, cache_creation_input_tokens: 60, output_tokens: 1 } } })}\n\nevent: message_delta\ndata: ${json({ type: "message_delta", usage: { output_tokens: 9 } })}\n\n`,
        },
      ],
      calls: 1,
      results: 0,
      tokens: 100,
      output: 9,
    },
  };
}
