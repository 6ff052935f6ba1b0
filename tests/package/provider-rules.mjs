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
  open = new Set();

  call(id, name, { idPattern = /^[\s\S]+$/, namePattern }) {
    if (typeof id !== "string" || !idPattern.test(id)) return `id of a call ${JSON.stringify(id)}`;
    if (this.#seen.has(id)) return `two calls have the id ${id}`;
    if (typeof name !== "string" || !namePattern.test(name)) return `name of a function ${JSON.stringify(name)}`;
    this.#seen.add(id);
    this.open.add(id);
    return undefined;
  }

  result(id) {
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
    if (Array.isArray(content) && content.some((part) => part.type === "text" && part.text === "")) return "an empty text";
  }
  return pairs.unanswered("the end");
}

function openaiResponses({ messages }) {
  const pairs = new Pairs();
  for (const message of messages) {
    const type = message.type ?? "message";
    if (type === "function_call") {
      const wrong = pairs.call(message.call_id, message.name, { idPattern: /^[\s\S]{1,64}$/, namePattern: OPENAI_NAME });
      if (wrong) return wrong;
      if (!isRecordInJson(message.arguments)) return `arguments ${message.arguments}`;
    } else if (type === "function_call_output") {
      const wrong = first(pairs.result(message.call_id), message.output == null ? "no output" : undefined);
      if (wrong) return wrong;
    } else if (type === "tool_search_call") {
      const wrong = pairs.call(message.call_id, "tool_search", { namePattern: OPENAI_NAME });
      if (wrong) return wrong;
      if (message.execution !== "client" || !isRecord(message.arguments)) return `a search ${JSON.stringify(message)}`;
    } else if (type === "tool_search_output") {
      const wrong = first(pairs.result(message.call_id), message.execution === "client" && Array.isArray(message.tools) ? undefined : "a search without tools");
      if (wrong) return wrong;
    } else if (type === "message") {
      if (isEmpty(message.content)) return `empty message of ${message.role}`;
      const late = message.role === "assistant" ? undefined : pairs.unanswered(`a message of ${message.role}`);
      if (late) return late;
    }
  }
  return pairs.unanswered("the end");
}

function anthropic({ messages, system }) {
  if (system !== undefined && isEmpty(system)) return "empty system";
  const texts = Array.isArray(system) ? system.map(({ text }) => text) : [system ?? "x"];
  if (texts.some(isBlank)) return "a blank text in system";
  const pairs = new Pairs();
  let last;
  for (const [at, { role, content }] of messages.entries()) {
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
        const wrong = first(pairs.result(block.tool_use_id), inside.some(({ type, text }) => type === "text" && text === "") ? "an empty text in a result" : undefined);
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
    }
    const late = role === "user" ? pairs.unanswered(`the end of message ${at}`) : undefined;
    if (late) return late;
    const end = blocks.at(-1);
    if (role === "assistant" && at === messages.length - 1 && end.type === "text" && /\s$/.test(end.text)) return "white space at the end";
  }
  return pairs.unanswered("the end");
}

function gemini({ messages, system }) {
  if (system !== undefined && isEmpty(system.parts)) return "empty system";
  let last;
  let open = [];
  for (const [at, { role, parts }] of messages.entries()) {
    if (!["user", "model"].includes(role)) return `role ${role}`;
    if (role === last || (at === 0 && role !== "user")) return `message ${at} is of ${role}`;
    last = role;
    if (isEmpty(parts)) return `message ${at} is empty`;
    if (parts.some((part) => part.text === "" || Object.keys(part).length === 0)) return `an empty part in message ${at}`;
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    if ((calls.length > 0 && role !== "model") || (results.length > 0 && role !== "user")) return `message ${at} is of ${role}`;
    // As many responses as calls, in their order, in the next message.
    if (results.length !== open.length) return `${results.length} results of ${open.length} calls in message ${at}`;
    for (const [place, { id, name, response }] of results.entries()) {
      if (name !== open[place].name || id !== open[place].id) return `result ${place} of message ${at} is ${name}`;
      if (!isRecord(response)) return `result ${place} of message ${at} is no object`;
    }
    for (const { name, args } of calls) {
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)) return `name of a function ${name}`;
      if (args !== undefined && !isRecord(args)) return `arguments of ${name}`;
    }
    open = calls;
  }
  return open.length === 0 ? undefined : "unanswered at the end";
}

function aiSdkModel({ messages }) {
  const pairs = new Pairs();
  for (const { role, content } of messages) {
    if (isEmpty(content)) return `empty message of ${role}`;
    if (role === "tool") {
      for (const { toolCallId, toolName, output } of content) {
        const wrong = first(pairs.result(toolCallId), typeof toolName === "string" && toolName !== "" && output?.type ? undefined : "a result without name or output");
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
