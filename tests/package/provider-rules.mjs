// What providers refuse, each format's rules as its documentation states them. Each function takes what is sent and says what
// is wrong with it, or nothing.

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isBlank = (text) => typeof text !== "string" || text.trim() === "";
const isEmpty = (content) => (typeof content === "string" ? content === "" : !Array.isArray(content) || content.length === 0);

function isRecordInJson(text) {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Calls and results met so far: one id, one call; one result for each call. */
class Pairs {
  #seen = new Set();
  #kinds = new Map();
  open = new Set();

  call(id, name, { idPattern = /^[\s\S]+$/, namePattern, kind }) {
    this.#kinds.set(id, kind);
    if (typeof id !== "string" || !idPattern.test(id)) return `id of a call ${JSON.stringify(id)}`;
    if (this.#seen.has(id)) return `two calls have the id ${id}`;
    if (typeof name !== "string" || !namePattern.test(name)) return `name of a function ${JSON.stringify(name)}`;
    this.#seen.add(id);
    this.open.add(id);
    return undefined;
  }

  result(id, kind) {
    if (kind !== undefined && this.open.has(id) && this.#kinds.get(id) !== kind) return `the result ${id} is of another kind than its call`;
    return this.open.delete(id) ? undefined : `the result ${id} has no open call`;
  }

  unanswered(before) {
    return this.open.size === 0 ? undefined : `${[...this.open]} unanswered before ${before}`;
  }
}

/** The first complaint of some. */
const first = (...complaints) => complaints.find((complaint) => complaint !== undefined);

const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function openaiChat({ messages }) {
  const pairs = new Pairs();
  for (const message of messages) {
    const { role, content, tool_calls: calls } = message;
    if (role === "tool") {
      const wrong = first(pairs.result(message.tool_call_id), typeof content !== "string" && isEmpty(content) ? "empty result" : undefined);
      if (wrong) return wrong;
      continue;
    }
    if (!["system", "developer", "user", "assistant"].includes(role)) return `role ${role}`;
    const late = pairs.unanswered(`a message of ${role}`);
    if (late) return late;
    if (role !== "assistant" && calls !== undefined) return `calls of ${role}`;
    if (calls === undefined && message.refusal == null && isEmpty(content)) return `empty message of ${role}`;
    if (calls !== undefined && calls.length === 0) return "an empty list of calls";
    for (const call of calls ?? []) {
      const { name, arguments: given } = call.function;
      // An id of more than 40 characters is refused.
      const wrong = pairs.call(call.id, name, { idPattern: /^[\s\S]{1,40}$/, namePattern: OPENAI_NAME });
      if (wrong) return wrong;
      if (call.type !== "function" || !isRecordInJson(given)) return `arguments ${given}`;
    }
    const parts = Array.isArray(content) ? content : [];
    if (parts.some((part) => part.type === "text" && part.text === "")) return "an empty text";
    const stray = parts.find(({ type }) => !CHAT_PARTS[role === "user" ? "user" : role === "assistant" ? "assistant" : "system"].includes(type));
    if (stray) return `a part ${stray.type} of ${role}`;
  }
  return pairs.unanswered("the end");
}

/** Types of items that are calls of the caller's tools; the type of a result has `_output` behind it. */
const RESPONSES_CALLS = ["function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call"];
/** Prefixes of the ids of items that a provider has stored, to which an `item_reference` leads. */
const STORED = { rs: "reasoning", msg: "message", fc: "function_call", ws: "web_search_call", appr: "mcp_approval_request" };

/** The round of thinking that an item belongs to, as the ids and seals of random conversations tell. */
const roundOf = (text) => /[_-]r(\d+)x/.exec(String(text))?.[1];

/** Reasoning has behind it what it led to, and what was thought of has its reasoning. */
function reasoningHolds(items) {
  const thought = new Set();
  for (const [at, { type, id }] of items.entries()) {
    const round = roundOf(id);
    if (type !== "reasoning") {
      if (round !== undefined && !thought.has(round)) return `${type} ${id} without the reasoning that led to it`;
      continue;
    }
    thought.add(round);
    const next = items[at + 1];
    const isModels = next && !next.type.endsWith("_output") && next.type !== "mcp_approval_response" && (next.type !== "message" || next.role === "assistant");
    if (!isModels) return `reasoning ${id} without what follows it`;
  }
  return undefined;
}

/** The types of the parts of a message, by who says it. */
const CHAT_PARTS = { user: ["text", "image_url", "input_audio", "file"], assistant: ["text", "refusal"], system: ["text"] };
const RESPONSES_PARTS = { user: ["input_text", "input_image", "input_file", "input_audio"], assistant: ["output_text", "refusal"], system: ["input_text"] };

function openaiResponses({ messages }) {
  const pairs = new Pairs();
  const [ids, asked] = [new Set(), new Set()];
  const items = messages.map((item) => {
    if (item.type !== "item_reference") return { ...item, type: item.type ?? "message" };
    const type = STORED[/^[a-z]+/.exec(item.id)[0]];
    return { ...item, type, isStored: true, ...(type === "message" && { role: "assistant" }) };
  });
  for (const item of items) {
    const { type, id } = item;
    // The output of a local shell has the id of its call.
    const isNamed = id !== undefined && id !== null && type !== "local_shell_call_output";
    if (isNamed && ids.has(id)) return `two items have the id ${id}`;
    if (isNamed) ids.add(id);
    const call = type.replace(/_output$/, "");
    if (RESPONSES_CALLS.includes(type)) {
      const named = ["function_call", "custom_tool_call"].includes(type) ? item.name : type;
      const wrong = pairs.call(item.call_id, named, { idPattern: /^[\s\S]{1,64}$/, namePattern: OPENAI_NAME, kind: type });
      if (wrong) return wrong;
      if (type === "function_call" && !isRecordInJson(item.arguments)) return `arguments ${item.arguments}`;
    } else if (RESPONSES_CALLS.includes(call)) {
      const wrong = first(pairs.result(item.call_id ?? id, call), item.output == null ? "no output" : undefined);
      if (wrong) return wrong;
    } else if (type === "tool_search_call") {
      const wrong = pairs.call(item.call_id, "tool_search", { namePattern: OPENAI_NAME });
      if (wrong) return wrong;
      if (item.execution !== "client" || !isRecord(item.arguments)) return `a search ${JSON.stringify(item)}`;
    } else if (type === "tool_search_output") {
      const wrong = first(pairs.result(item.call_id), item.execution === "client" && Array.isArray(item.tools) ? undefined : "a search without tools");
      if (wrong) return wrong;
    } else if (type === "mcp_approval_request") {
      asked.add(id);
    } else if (type === "mcp_approval_response") {
      if (!asked.delete(item.approval_request_id)) return `an answer to ${item.approval_request_id}, which nobody asked`;
    } else if (type === "message" && !item.isStored) {
      const { role, content } = item;
      // LangChain writes an empty text before calls.
      if (isEmpty(content) && !(role === "assistant" && content === "")) return `empty message of ${role}`;
      const late = role === "assistant" ? undefined : pairs.unanswered(`a message of ${role}`);
      if (late) return late;
      const side = role === "user" || role === "assistant" ? role : "system";
      const stray = (Array.isArray(content) ? content : []).find((part) => !RESPONSES_PARTS[side].includes(part.type));
      if (stray) return `a part ${stray.type} of ${role}`;
    }
  }
  return first(pairs.unanswered("the end"), reasoningHolds(items));
}

/** What one answer of Claude has to be: thoughts that are signed and lead to something, tools of the provider with their results. */
function answerHolds(blocks, isLast) {
  const open = new Set();
  const rounds = new Set();
  let calls = false;
  for (const { type, id, tool_use_id: answered, signature, data, thinking } of blocks) {
    const isThought = type === "thinking" || type === "redacted_thinking";
    if (isThought && calls) return "thoughts behind a call";
    if (isThought) rounds.add(roundOf(signature ?? data));
    if (type === "thinking" && (typeof signature !== "string" || signature === "" || typeof thinking !== "string")) return "thoughts that are not signed";
    if (type === "redacted_thinking" && typeof data !== "string") return "thoughts without data";
    if (type === "text" && calls) return "a text behind a call";
    if (type === "tool_use") calls = true;
    if (type === "server_tool_use" || type === "mcp_tool_use") open.add(id);
    if (type.endsWith("_tool_result") && !open.delete(answered)) return `${type} without its call`;
  }
  if (["thinking", "redacted_thinking"].includes(blocks.at(-1).type)) return "thoughts at the end";
  return open.size > 0 && !isLast ? `a call ${[...open]} of the provider without its result` : undefined;
}

function anthropic({ messages, system }) {
  if (system !== undefined && isEmpty(system)) return "empty system";
  const texts = Array.isArray(system) ? system.map(({ text }) => text) : [system ?? "x"];
  if (texts.some(isBlank)) return "a blank text in system";
  const pairs = new Pairs();
  const conversation = messages.filter(({ role }) => role !== "system");
  let last;
  // At most four marks of what is cached, and instructions in the conversation say something.
  const marks = JSON.stringify({ messages, system }).split('"cache_control"').length - 1;
  if (marks > 4) return `${marks} marks of what is cached`;
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== "system") continue;
    if (isEmpty(content)) return "empty instructions";
    // Behind the user, and before the model or at the end.
    if (messages[at - 1]?.role !== "user" || (messages[at + 1] && messages[at + 1].role !== "assistant")) return `instructions at ${at}`;
  }
  for (const [at, { role, content }] of conversation.entries()) {
    if (!["user", "assistant"].includes(role)) return `role ${role}`;
    if (role === last || (at === 0 && role !== "user")) return `message ${at} is of ${role}`;
    last = role;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (isEmpty(blocks)) return `message ${at} is empty`;
    // Results come first, and all of them in the message after the calls.
    const others = blocks.findIndex(({ type }) => type !== "tool_result");
    for (const [place, block] of blocks.entries()) {
      if (block.type === "tool_result") {
        if (role !== "user" || (others !== -1 && place > others)) return `a result at ${place} of message ${at}`;
        const inside = Array.isArray(block.content) ? block.content : [];
        const wrong = first(
          pairs.result(block.tool_use_id),
          inside.some(({ type, text }) => type === "text" && text === "") ? "an empty text in a result" : undefined,
        );
        if (wrong) return wrong;
      } else if (role === "user") {
        const late = pairs.unanswered(`message ${at}`);
        if (late) return late;
      }
      if (block.type === "text" && isBlank(block.text)) return `a blank text in message ${at}`;
      if (block.type === "tool_use") {
        const wrong = pairs.call(block.id, block.name, { idPattern: /^[a-zA-Z0-9_-]+$/, namePattern: /^[a-zA-Z0-9_-]{1,128}$/ });
        if (wrong) return wrong;
        if (role !== "assistant" || !isRecord(block.input)) return `a call in message ${at}`;
      }
      if (["image", "document"].includes(block.type) && role !== "user") return `${block.type} of ${role}`;
    }
    const wrong = role === "assistant" ? answerHolds(blocks, at === conversation.length - 1) : undefined;
    if (wrong) return `${wrong} in message ${at}`;
    const late = role === "user" ? pairs.unanswered(`the end of message ${at}`) : undefined;
    if (late) return late;
    const end = blocks.at(-1);
    if (role === "assistant" && at === conversation.length - 1 && end.type === "text" && /\s$/.test(end.text)) return "white space at the end";
  }
  return pairs.unanswered("the end");
}

function gemini({ messages, system }) {
  if (system !== undefined && isEmpty(system.parts)) return "empty system";
  let last;
  let open = [];
  for (const [at, { role: given, parts }] of messages.entries()) {
    const role = given === "function" ? "user" : given;
    if (!["user", "model"].includes(role)) return `role ${role}`;
    // Two of the user may follow each other: what functions answered is a turn of its own, before what the user says.
    // The second of two messages of the model may not call.
    const isCall = role === "model" && parts.some(({ functionCall }) => functionCall);
    if ((role === last && isCall) || (at === 0 && role !== "user")) return `message ${at} is of ${role}`;
    last = role;
    if (isEmpty(parts)) return `message ${at} is empty`;
    if (parts.some((part) => (part.text === "" && !(part.thoughtSignature ?? part.thought_signature)) || Object.keys(part).length === 0))
      return `an empty part in message ${at}`;
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    if ((calls.length > 0 && role !== "model") || (results.length > 0 && role !== "user")) return `message ${at} is of ${role}`;
    if (results.length > 0 && parts.some(({ text }) => text !== undefined)) return `text beside results in message ${at}`;
    // As many responses as calls, in their order, in the next message.
    if (results.length !== open.length) return `${results.length} results of ${open.length} calls in message ${at}`;
    // Ids tell which is which, whatever the order.
    const hasIds = results.every(({ id }) => id !== undefined);
    for (const [place, { id, name, response }] of results.entries()) {
      const call = hasIds ? open.find((one) => one.id === id) : open[place];
      if (name !== call?.name || id !== call.id) return `result ${place} of message ${at} is ${name}`;
      if (!isRecord(response)) return `result ${place} of message ${at} is no object`;
    }
    for (const { name, args } of calls) {
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)) return `name of a function ${name}`;
      if (args !== undefined && !isRecord(args)) return `arguments of ${name}`;
    }
    open = calls;
  }
  return open.length === 0 ? signaturesHold(messages) : "unanswered at the end";
}

/** Gemini 3 refuses, in the turn that goes on, a first call of an answer that is not signed; a model that signs calls is one. */
function signaturesHold(contents) {
  const signature = (part) => part.thoughtSignature ?? part.thought_signature;
  if (!contents.some(({ parts }) => parts.some((part) => part.functionCall && signature(part)))) return undefined;
  const turn = contents.findLastIndex(({ role, parts }) => role === "user" && !parts.some(({ functionResponse }) => functionResponse));
  for (const { role, parts } of contents.slice(turn + 1)) {
    const called = role === "model" ? parts.find(({ functionCall }) => functionCall) : undefined;
    if (called && !signature(called)) return `the call ${called.functionCall.name} of the turn that goes on is not signed`;
  }
  return undefined;
}

function aiSdkModel({ messages }) {
  const pairs = new Pairs();
  for (const { role, content } of messages) {
    if (isEmpty(content)) return `empty message of ${role}`;
    if (role === "tool") {
      for (const { toolCallId, toolName, output } of content) {
        const wrong = first(
          pairs.result(toolCallId),
          typeof toolName === "string" && toolName !== "" && output?.type ? undefined : "a result without name or output",
        );
        if (wrong) return wrong;
      }
      continue;
    }
    const late = pairs.unanswered(`a message of ${role}`);
    if (late) return late;
    if (role === "system" && typeof content !== "string") return "system is no text";
    for (const part of typeof content === "string" ? [] : content) {
      if (part.type === "text" && part.text === "") return `an empty text of ${role}`;
      // What the provider ran is answered where it was called.
      const answered = part.type === "tool-result" ? pairs.result(part.toolCallId) : undefined;
      if (answered) return answered;
      if (part.type !== "tool-call") continue;
      const wrong = pairs.call(part.toolCallId, part.toolName, { namePattern: /^[\s\S]+$/ });
      if (wrong) return wrong;
      if (role !== "assistant" || part.input === undefined) return `a call of ${role}`;
    }
  }
  return pairs.unanswered("the end");
}

function aiSdkUi({ messages }) {
  const ids = new Set();
  const pairs = new Pairs();
  for (const { id, role, parts } of messages) {
    if (typeof id !== "string" || id === "" || ids.has(id)) return `id of a message ${id}`;
    ids.add(id);
    if (!["system", "user", "assistant"].includes(role)) return `role ${role}`;
    if (isEmpty(parts)) return `empty message of ${role}`;
    for (const part of parts) {
      if (part.type === "text" && typeof part.text !== "string") return "no text in a text";
      if (part.type !== "dynamic-tool" && !part.type.startsWith("tool-")) continue;
      const wrong = pairs.call(part.toolCallId, part.toolName ?? part.type.slice(5), { namePattern: /^[\s\S]+$/ });
      if (wrong) return wrong;
      if (role !== "assistant") return `a call of ${role}`;
      if (part.state === "output-available" ? part.output === undefined : part.state !== "output-error" || typeof part.errorText !== "string") {
        return `a call in the state ${part.state}`;
      }
    }
  }
  return undefined;
}

/** By format. */
export const PROVIDER_RULES = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  gemini,
  "ai-sdk-ui": aiSdkUi,
  "ai-sdk-model": aiSdkModel,
};

/** How many calls and results there are, each of which a provider puts a frame around. */
export function toolParts({ messages }) {
  let count = 0;
  const walk = (value) => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (!isRecord(value)) return undefined;
    if (["function", "function_call", "function_call_output", "tool_use", "tool_result", "tool-call", "tool-result"].includes(value.type)) count += 1;
    else if (value.role === "tool" && typeof value.tool_call_id === "string") count += 1;
    else if (isRecord(value.functionCall) || isRecord(value.functionResponse)) count += 1;
    // A call with its result in one part.
    else if (typeof value.type === "string" && /^(tool-|dynamic-tool$)/.test(value.type)) count += 2;
    for (const part of [value.content, value.parts, value.tool_calls]) if (Array.isArray(part)) walk(part);
    return undefined;
  };
  walk(messages);
  return count;
}
