// Random conversations with every type of part that a message of each format may have: what a user, a model, its tools and its
// provider say, with answers broken off, ids used again, messages left out and handed over twice. Each text has a mark of its
// own, and so has each picture, so that what is lost is found.
import { PIECES } from "./random-logs.mjs";

/** What an image, a PDF and a sound begin with. */
export const HEADS = {
  "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
  "application/pdf": "JVBERi0xLjQK",
  "audio/wav": "UklGRiQAAABXQVZFZm10IBAA",
  "text/plain": "",
};

/** Bytes of a type, other ones for each number. */
export function base64Of(type, number) {
  const body = Buffer.from(`file ${number} ${"of the harbour ".repeat(4)}`.slice(0, 60));
  return Buffer.concat([Buffer.from(HEADS[type] ?? "", "base64"), body]).toString("base64");
}

/** Providers whose own parts a message of the AI SDK, or of LangChain, may have. */
export const PROVIDERS = ["openai", "anthropic", "google"];

const NAMES = ["look_up", "list_orders", "refund"];

/** Whether a model says something in words: what only one provider understands stands beside that. */
const says = (parts) => parts.some(({ part, text }) => part === "text" && text !== "");

/** What happens, in no format. */
class Script {
  #marks = 0;
  #media = 0;
  #calls = 0;
  #rounds = 0;

  /** What each mark is in. */
  kinds = {};

  constructor(draw, { types, hasServers }) {
    Object.assign(this, { draw, types, hasServers });
    // Some servers count their calls anew in every turn.
    this.reuses = draw.chance(0.1);
  }

  /** A text with a mark; `kind` is what of a conversation it is. */
  said(most = 12, kind = "text") {
    const { draw } = this;
    this.kinds[`#${++this.#marks}#`] = kind;
    return `#${this.#marks}# ${Array.from({ length: 1 + draw.below(most) }, () => draw.pick(PIECES)).join(" ")} ~`;
  }

  media(types = ["image/png", "image/png", "application/pdf"]) {
    const { draw } = this;
    const number = ++this.#media;
    const type = draw.pick(types);
    const by = draw.chance(0.25) && type !== "text/plain" && !type.startsWith("audio/") ? "url" : "data";
    return {
      part: "media",
      type,
      by,
      number,
      data: base64Of(type, number),
      url: `https://files.example/${number}/picture.${type.slice(-3)}?sig=${number}`,
      name: draw.chance(0.5) ? `paper ${number}` : undefined,
    };
  }

  user() {
    const { draw } = this;
    if (draw.chance(0.03)) return { role: "user", parts: draw.chance(0.5) ? [] : [{ part: "text", text: "" }] };
    const parts = [{ part: "text", text: this.said(draw.chance(0.1) ? 200 : 12) }];
    if (draw.chance(0.2)) parts.push(this.media(this.types));
    if (draw.chance(0.1)) parts.push({ part: "text", text: draw.chance(0.3) ? "" : this.said(5) });
    if (draw.chance(0.03)) parts.unshift(this.media());
    if (draw.chance(0.03)) parts.push({ part: "opaque", number: ++this.#media, text: this.said(3, "opaque") });
    return { role: "user", parts };
  }

  output() {
    const { draw } = this;
    const rows = draw.below(draw.chance(0.1) ? 200 : 8);
    const log = () =>
      `${this.said(2, "call")}\n${Array.from({ length: rows * 2 }, (_, n) => `12:00:${n % 60} ${n % 31 ? "INFO" : "ERROR"} request ${n} took ${n * 7} ms`).join("\n")}`;
    return draw.pick([
      () => ({ type: "text", value: draw.pick([() => "", () => this.said(30, "call"), log])() }),
      () => ({
        type: "json",
        value: draw.pick([
          () => ({ note: this.said(4, "call"), n: 1.5, deep: [null, { ok: true }] }),
          () => Array.from({ length: rows }, (_, n) => ({ id: 12000 + n, note: this.said(2, "call") })),
          () => null,
          () => 7,
          () => this.said(3, "call"),
        ])(),
      }),
      () => ({ type: "error-text", value: this.said(6, "call") }),
      () => ({ type: "error-json", value: { error: this.said(3, "call") } }),
      () => ({
        type: "content",
        value: [...(draw.chance(0.7) ? [{ part: "text", text: this.said(4, "call") }] : []), this.media(["image/png", "image/png", "application/pdf"])],
      }),
      () => ({
        type: "content",
        value: draw.chance(0.3)
          ? []
          : [
              { part: "text", text: draw.chance(0.2) ? "" : this.said(3, "call") },
              { part: "text", text: this.said(3, "call") },
            ],
      }),
    ])();
  }

  call(round, isOwn) {
    const { draw } = this;
    const number = ++this.#calls;
    return {
      part: "call",
      id: this.reuses ? `call_${number % 3}` : `call_${number}`,
      number,
      round,
      name: draw.pick(NAMES),
      input: draw.pick([() => ({}), () => ({ query: this.said(3, "call") }), () => ({ at: [1, 2, { deep: null }], n: 1.5 })])(),
      output: this.output(),
      isProviders: !isOwn,
      text: this.said(5, "providers"),
    };
  }

  /** One answer of a model, with the calls that it makes. */
  answer({ calls = 0, isLast = false }) {
    const { draw } = this;
    const parts = [];
    const round = draw.chance(0.35) ? ++this.#rounds : undefined;
    if (round) {
      parts.push({ part: "reasoning", round, text: draw.chance(0.2) ? "" : this.said(8, "reasoning") });
      if (draw.chance(0.2)) parts.push({ part: "reasoning", round, isMore: true, text: this.said(4, "reasoning") });
    }
    if (this.hasServers && draw.chance(0.12)) parts.push(this.call(round, false));
    if (calls === 0 || draw.chance(0.4))
      parts.push({ part: "text", round, number: ++this.#media, text: draw.chance(0.04) ? "" : `${this.said(isLast ? 30 : 8)}${draw.pick(["", "", " \n"])}` });
    if (calls === 0 && draw.chance(0.15)) parts.push({ part: "text", round, number: ++this.#media, text: this.said(8) });
    if (calls === 0 && draw.chance(0.05) && says(parts)) parts.push({ ...this.media(["image/png"]), by: "data" });
    if (draw.chance(0.05)) parts.push({ part: "source", number: ++this.#media, text: this.said(2, "opaque") });
    if (draw.chance(0.03) && says(parts)) parts.push({ part: "opaque", number: ++this.#media, text: this.said(3, "opaque") });
    for (let count = calls; count > 0; count -= 1) {
      const call = this.call(round, true);
      if (draw.chance(0.1)) call.approval = draw.pick(["approved", "denied"]);
      parts.push(call);
    }
    return { role: "assistant", parts };
  }
}

/** A script: what a user says, and what a model answers and calls, up to where the model is asked again. */
function script(draw, media) {
  const one = new Script(draw, media);
  const steps = [];
  if (draw.chance(0.5)) steps.push({ role: "system", text: one.said(6) });
  const turns = 1 + draw.below(4);
  for (let turn = 1; turn <= turns; turn += 1) {
    steps.push(one.user());
    if (draw.chance(0.04)) steps.push({ role: "user", parts: [{ part: "text", text: one.said(4) }] });
    for (let rounds = draw.below(draw.chance(0.08) ? 9 : 3); rounds > 0; rounds -= 1) {
      const step = one.answer({ calls: 1 + draw.below(3) });
      const own = step.parts.filter(({ part, isProviders }) => part === "call" && !isProviders);
      // Broken off before the tools had run.
      if (draw.chance(0.04)) own.at(-1).isOpen = true;
      steps.push(step, { role: "tool", calls: own, isParted: draw.chance(0.3) });
    }
    if (turn < turns || draw.chance(0.3)) {
      // Broken off while it thought.
      if (draw.chance(0.05)) steps.push({ role: "assistant", parts: one.answer({}).parts.filter(({ part }) => part === "reasoning") });
      else if (draw.chance(0.9)) steps.push(one.answer({ isLast: true }));
    }
  }
  if (steps.at(-1).role === "assistant") steps.push({ role: "user", parts: [{ part: "text", text: one.said(4) }] });
  return { steps, kinds: one.kinds };
}

const noted = (provider, fields) => (fields === undefined ? {} : { providerOptions: { [provider]: fields } });
const own = (call) => !call.isProviders;
const answered = ({ calls }) => calls.filter(({ isOpen }) => !isOpen);
const asText = ({ type, value }) =>
  type === "content" ? value.map(({ text = "" }) => text).join("\n") : typeof value === "string" ? value : JSON.stringify(value);
const failed = ({ type }) => type.startsWith("error-");
const given = (text, many, wrap) => (many ? [wrap(text)] : text);

/** The id of an item of the round in which the model thought; without thoughts it is free of them. */
const itemId = (kind, { round, number }) => (round === undefined ? `${kind}_${number}` : `${kind}_r${round}x${number}`);

const MODEL_NOTES = {
  openai: {
    reasoning: ({ round }) => ({ itemId: `rs_r${round}x`, reasoningEncryptedContent: `sealed-${round}` }),
    text: (part) => ({ itemId: itemId("msg", part) }),
    call: (part) => ({ itemId: itemId("fc", part) }),
  },
  anthropic: {
    reasoning: ({ round, text, isMore }) => (text === "" && !isMore ? { redactedData: `redacted-r${round}x` } : { signature: `sig-r${round}x` }),
    text: () => undefined,
    call: () => undefined,
  },
  google: {
    reasoning: ({ round }) => ({ thoughtSignature: `thought-r${round}x` }),
    text: () => undefined,
    call: ({ round, isFirst }) => (round !== undefined && isFirst ? { thoughtSignature: `call-r${round}x` } : undefined),
  },
};

/** A tool that the provider runs itself, as the AI SDK has it in messages. */
function providersParts(provider, call, notes) {
  const { number, text, input } = call;
  const id = provider === "openai" ? itemId("ws", call) : provider === "anthropic" ? `srvtoolu_${number}` : `srv_${number}`;
  const value =
    provider === "anthropic"
      ? [{ type: "web_search_result", url: "https://tides.example", title: text, pageAge: null, encryptedContent: `sealed ${number}` }]
      : { action: { type: "search", query: text } };
  const isGoogles = provider === "google" ? { google: { serverToolCallId: id, serverToolType: "GOOGLE_SEARCH_WEB" } } : undefined;
  const more = isGoogles ? { providerOptions: isGoogles } : {};
  return [
    { type: "tool-call", toolCallId: id, toolName: "web_search", input: provider === "anthropic" ? { query: text } : input, providerExecuted: true, ...more },
    { type: "tool-result", toolCallId: id, toolName: "web_search", output: { type: "json", value }, ...more },
  ];
}

function modelMedia(media, { isAnswer } = {}) {
  const { type, by, data, url, name } = media;
  const filename = name === undefined ? {} : { filename: name };
  if (type === "image/png" && !isAnswer)
    return { type: "image", image: by === "url" ? url : data, ...(by === "url" || media.number % 2 ? { mediaType: type } : {}) };
  return { type: "file", mediaType: type, data: by === "url" ? new URL(url) : data, ...filename };
}

function modelOutput({ type, value }) {
  if (type !== "content") return { type, value };
  return {
    type,
    value: value.map((part) => {
      if (part.part === "text") return { type: "text", text: part.text };
      const kind = part.type === "image/png" ? "image" : "file";
      return part.by === "url" ? { type: `${kind}-url`, url: part.url } : { type: `${kind}-data`, data: part.data, mediaType: part.type };
    }),
  };
}

/** `ModelMessage` of the AI SDK, as it is with the models of a provider. */
function modelMessages(provider) {
  const notes = MODEL_NOTES[provider];
  return (step) => {
    if (step.role === "system") return [{ role: "system", content: step.text }];
    if (step.role === "user") {
      const parts = step.parts.map((part) => {
        if (part.part === "text") return { type: "text", text: part.text };
        if (part.part === "media") return modelMedia(part);
        return { type: "text", text: part.text, providerOptions: { own: { kept: part.number } } };
      });
      return [{ role: "user", content: parts.length === 1 && parts[0].type === "text" ? parts[0].text : parts }];
    }
    if (step.role === "tool") {
      const results = answered(step).map((call) => ({
        type: "tool-result",
        toolCallId: call.id,
        toolName: call.name,
        output: call.approval === "denied" ? { type: "execution-denied", ...(call.number % 2 && { reason: call.text }) } : modelOutput(call.output),
      }));
      const answers = step.calls
        .filter(({ approval }) => approval)
        .map((call) => ({
          type: "tool-approval-response",
          approvalId: `appr_${call.number}`,
          approved: call.approval === "approved",
          ...(call.number % 2 && { reason: call.text }),
        }));
      const parted = step.isParted
        ? results.map((part) => ({ role: "tool", content: [part] }))
        : results.length > 0
          ? [{ role: "tool", content: results }]
          : [];
      return [...(answers.length > 0 ? [{ role: "tool", content: answers }] : []), ...parted];
    }
    let isFirst = true;
    const content = step.parts.flatMap((part) => {
      switch (part.part) {
        case "reasoning":
          return [{ type: "reasoning", text: part.text, ...noted(provider, notes.reasoning(part)) }];
        case "text":
          return [{ type: "text", text: part.text, ...noted(provider, notes.text(part)) }];
        case "media":
          return [modelMedia(part, { isAnswer: true })];
        case "source":
          return [];
        case "opaque":
          return [{ type: "custom", kind: `${provider}.note`, providerOptions: { [provider]: { note: part.text } } }];
        default: {
          if (part.isProviders) return providersParts(provider, part, notes);
          const more = noted(provider, notes.call({ ...part, isFirst }));
          isFirst = false;
          const call = { type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.input, ...more };
          return part.approval ? [call, { type: "tool-approval-request", approvalId: `appr_${part.number}`, toolCallId: part.id }] : [call];
        }
      }
    });
    if (content.length === 1 && content[0].type === "text" && content[0].providerOptions === undefined)
      return [{ role: "assistant", content: content[0].text }];
    return [{ role: "assistant", content }];
  };
}

const chatImage = ({ by, url, data, type }) => ({ type: "image_url", image_url: { url: by === "url" ? url : `data:${type};base64,${data}`, detail: "auto" } });

function chatMedia(media) {
  const { type, data, number } = media;
  if (type === "image/png") return chatImage(media);
  if (type === "audio/wav") return { type: "input_audio", input_audio: { data, format: "wav" } };
  return {
    type: "file",
    file: media.by === "url" ? { file_id: `file-${number}` } : { filename: media.name ?? `part-${number}.pdf`, file_data: `data:${type};base64,${data}` },
  };
}

function chatMessages(step) {
  if (step.role === "system") return [{ role: step.text.length % 2 ? "system" : "developer", content: step.text }];
  if (step.role === "user") {
    const parts = step.parts.map((part) => (part.part === "media" ? chatMedia(part) : { type: "text", text: part.text }));
    return [{ role: "user", content: parts.length === 1 && parts[0].type === "text" ? parts[0].text : parts }];
  }
  if (step.role === "tool") {
    return answered(step).map(({ id, output, name, number }) => ({
      role: "tool",
      tool_call_id: id,
      ...(number % 5 === 0 && { name }),
      content: output.type === "content" ? output.value.filter(({ part }) => part === "text").map(({ text }) => ({ type: "text", text })) : asText(output),
    }));
  }
  const texts = step.parts.filter(({ part }) => part === "text" || part === "source" || part === "opaque");
  const thoughts = step.parts.filter(({ part }) => part === "reasoning").map(({ text }) => text);
  const calls = step.parts.filter((part) => part.part === "call" && own(part));
  const isRefusal = texts.length === 1 && calls.length === 0 && texts[0].number % 7 === 0;
  return [
    {
      role: "assistant",
      content:
        texts.length === 0 || isRefusal ? null : given(texts.map(({ text }) => text).join(""), texts[0].number % 4 === 0, (text) => ({ type: "text", text })),
      ...(isRefusal && { refusal: texts[0].text }),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join("") }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input, number }) => ({
          id,
          type: "function",
          function: { name, arguments: number % 13 === 0 ? '{"broken": ' : JSON.stringify(input) },
          ...(number % 6 === 0 && { extra_content: { google: { thought_signature: `call-${number}` } } }),
        })),
      }),
    },
  ];
}

function responsesMedia(media) {
  const { type, by, data, url, name, number } = media;
  if (type === "image/png") return { type: "input_image", image_url: by === "url" ? url : `data:${type};base64,${data}`, detail: "auto" };
  if (type === "audio/wav") return { type: "input_audio", input_audio: { data, format: "wav" } };
  return { type: "input_file", ...(by === "url" ? { file_url: url } : { filename: name ?? `part-${number}.pdf`, file_data: `data:${type};base64,${data}` }) };
}

/** Items of calls of the kinds that the provider has for tools of its own, with what their results are. */
const RESPONSES_CALLS = {
  function_call: ({ name, input }) => [{ name, arguments: JSON.stringify(input) }, (output) => responsesOutput(output)],
  custom_tool_call: ({ name, text }) => [{ name, input: text }, (output) => responsesOutput(output)],
  shell_call: ({ text }) => [
    { action: { commands: [text], timeout_ms: null, max_output_length: null }, status: "completed" },
    (output) => [{ stdout: asText(output), stderr: "", outcome: { type: "exit", exit_code: 0 } }],
  ],
  local_shell_call: ({ text }) => [{ action: { type: "exec", command: ["sh", text], env: {} }, status: "completed" }, (output) => asText(output)],
  apply_patch_call: ({ text }) => [{ operation: { type: "delete_file", path: text }, status: "completed" }, (output) => asText(output)],
};

const kindOf = ({ number }) => (number % 4 === 3 ? Object.keys(RESPONSES_CALLS)[(number >> 2) % 5] : "function_call");

function responsesOutput(output) {
  if (output.type !== "content" || output.value.length === 0) return asText(output);
  return output.value.map((part) => (part.part === "text" ? { type: "input_text", text: part.text } : responsesMedia(part)));
}

function responsesItems(step) {
  if (step.role === "system") return [{ role: step.text.length % 2 ? "system" : "developer", content: step.text }];
  if (step.role === "user") {
    const parts = step.parts.map((part) => (part.part === "media" ? responsesMedia(part) : { type: "input_text", text: part.text }));
    return [
      {
        ...(step.parts.length % 2 && { type: "message" }),
        role: "user",
        content: parts.length === 1 && parts[0].type === "input_text" ? parts[0].text : parts,
      },
    ];
  }
  if (step.role === "tool") {
    return answered(step).map((call) => {
      const kind = kindOf(call);
      const output = RESPONSES_CALLS[kind](call)[1](call.output);
      if (kind === "local_shell_call") return { type: "local_shell_call_output", id: call.id, output };
      return { type: `${kind}_output`, call_id: call.id, output, ...(kind === "apply_patch_call" && { status: "completed" }) };
    });
  }
  return step.parts.flatMap((part) => {
    switch (part.part) {
      case "reasoning":
        return part.isMore
          ? []
          : [
              {
                type: "reasoning",
                id: `rs_r${part.round}x`,
                summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }],
                encrypted_content: `sealed-${part.round}`,
              },
            ];
      case "text":
        return [
          {
            type: "message",
            id: itemId("msg", part),
            role: "assistant",
            status: "completed",
            content: part.number % 9 === 0 ? [{ type: "refusal", refusal: part.text }] : [{ type: "output_text", text: part.text, annotations: [] }],
          },
        ];
      case "media":
        return [{ type: "image_generation_call", id: itemId("ig", part), status: "completed", result: part.data }];
      case "source":
        return [
          {
            type: "file_search_call",
            id: itemId("fs", part),
            queries: [part.text],
            status: "completed",
            results: [{ file_id: "file-1", filename: "tides.txt", text: part.text, score: 0.5, attributes: {} }],
          },
        ];
      case "opaque":
        return [{ type: "compaction", id: `cmp_${part.number}`, encrypted_content: part.text }];
      default: {
        if (!part.isProviders) {
          const kind = kindOf(part);
          return [
            {
              type: kind,
              id: itemId("fc", part),
              call_id: part.id,
              ...RESPONSES_CALLS[kind](part)[0],
              ...(kind === "function_call" && { status: "completed" }),
            },
          ];
        }
        const id = itemId("ws", part);
        return [
          { type: "web_search_call", id, status: "completed", action: { type: "search", query: part.text } },
          {
            type: "code_interpreter_call",
            id,
            container_id: "c",
            code: part.text,
            status: "completed",
            outputs: [{ type: "logs", logs: asText(part.output) }],
          },
          {
            type: "mcp_call",
            id,
            server_label: "docs",
            name: "read",
            arguments: JSON.stringify({ path: part.text }),
            output: asText(part.output),
            status: "completed",
          },
        ].slice(part.number % 3, (part.number % 3) + 1);
      }
    }
  });
}

function blockMedia(media) {
  const { type, by, data, url, name } = media;
  if (type === "image/png") return { type: "image", source: by === "url" ? { type: "url", url } : { type: "base64", media_type: type, data } };
  if (type === "text/plain")
    return { type: "document", source: { type: "text", media_type: type, data: Buffer.from(data, "base64").toString() }, ...(name && { title: name }) };
  if (type === "application/pdf")
    return { type: "document", source: by === "url" ? { type: "url", url } : { type: "base64", media_type: type, data }, ...(name && { title: name }) };
  return { type: "text", text: `[sound ${media.number}]` };
}

function blockOutput(output) {
  if (output.type !== "content") return asText(output);
  return output.value.filter(({ text }) => text !== "").map((part) => (part.part === "text" ? { type: "text", text: part.text } : blockMedia(part)));
}

function anthropicMessages(step) {
  if (step.role === "system") return [];
  if (step.role === "user") {
    const parts = step.parts.flatMap((part) =>
      part.part === "media"
        ? [blockMedia(part)]
        : part.part === "opaque"
          ? [{ type: "search_result", source: "https://tides.example", title: "tides", content: [{ type: "text", text: part.text }] }]
          : [{ type: "text", text: part.text }],
    );
    return [{ role: "user", content: parts.length === 1 && parts[0].type === "text" ? parts[0].text : parts }];
  }
  if (step.role === "tool") {
    const results = answered(step).map(({ id, output }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: blockOutput(output),
      ...(failed(output) && { is_error: true }),
    }));
    return results.length > 0 ? [{ role: "user", content: results }] : [];
  }
  const content = step.parts.flatMap((part) => {
    switch (part.part) {
      case "reasoning":
        return [
          part.text === ""
            ? { type: "redacted_thinking", data: `redacted-r${part.round}x` }
            : { type: "thinking", thinking: part.text, signature: `sig-r${part.round}x` },
        ];
      case "text":
        return [{ type: "text", text: part.text }];
      case "opaque":
        return [{ type: "compaction", content: part.text }];
      case "source": {
        const id = `srvtoolu_s${part.number}`;
        return [
          { type: "server_tool_use", id, name: "web_fetch", input: { url: "https://tides.example" } },
          {
            type: "web_fetch_tool_result",
            tool_use_id: id,
            content: {
              type: "web_fetch_result",
              url: "https://tides.example",
              content: { type: "document", source: { type: "text", media_type: "text/plain", data: part.text } },
            },
          },
        ];
      }
      case "media":
        return [];
      default: {
        if (!part.isProviders) return [{ type: "tool_use", id: part.id, name: part.name, input: part.input }];
        const id = `srvtoolu_${part.number}`;
        return [
          { type: "server_tool_use", id, name: "web_search", input: { query: part.text } },
          {
            type: "web_search_tool_result",
            tool_use_id: id,
            content: [
              { type: "web_search_result", url: "https://tides.example", title: part.text, encrypted_content: `sealed ${part.number}`, page_age: null },
            ],
          },
        ];
      }
    }
  });
  return [{ role: "assistant", content: content.length === 1 && content[0].type === "text" && content[0].text.length % 2 ? content[0].text : content }];
}

function geminiMedia({ type, by, data, url, name }) {
  return by === "url" ? { fileData: { mimeType: type, fileUri: url } } : { inlineData: { mimeType: type, data, ...(name && { displayName: name }) } };
}

function geminiContents(step, { withIds, isSigned }) {
  if (step.role === "system") return [];
  if (step.role === "user") return [{ role: "user", parts: step.parts.map((part) => (part.part === "media" ? geminiMedia(part) : { text: part.text })) }];
  if (step.role === "tool") {
    const results = answered(step);
    if (results.length === 0) return [];
    const parts = results.map(({ id, name, output }) => ({
      functionResponse: {
        ...(withIds && { id }),
        name,
        response: failed(output)
          ? { error: output.value }
          : typeof output.value === "object" && output.value !== null && !Array.isArray(output.value)
            ? output.value
            : { output: output.type === "content" ? asText(output) : output.value },
      },
    }));
    return [{ role: results[0].number % 5 ? "user" : "function", parts }];
  }
  let isFirst = true;
  const parts = step.parts.flatMap((part) => {
    switch (part.part) {
      case "reasoning":
        return [{ text: part.text || "…", thought: true, ...(part.isMore && { thoughtSignature: `thought-r${part.round}x` }) }];
      case "text":
        return [{ text: part.text, ...(part.round && !step.parts.some(({ part: kind }) => kind === "call") && { thoughtSignature: `text-r${part.round}x` }) }];
      case "media":
        return [geminiMedia({ ...part, name: undefined })];
      case "source":
        return [];
      case "opaque":
        return [{ text: part.text }];
      default: {
        if (part.isProviders)
          return [{ executableCode: { language: "PYTHON", code: part.text } }, { codeExecutionResult: { outcome: "OUTCOME_OK", output: asText(part.output) } }];
        const signature = isSigned && isFirst ? { thoughtSignature: `call-${part.number}` } : {};
        isFirst = false;
        return [{ functionCall: { ...(withIds && { id: part.id }), name: part.name, args: part.input }, ...signature }];
      }
    }
  });
  return [{ role: "model", parts }];
}

/** Messages of the AI SDK's user interface: a turn of the model is one, with what its tools returned. */
function uiMessages(steps) {
  const messages = [];
  let turn;
  for (const [at, step] of steps.entries()) {
    if (step.role === "tool") continue;
    if (step.role === "system" || step.role === "user") {
      turn = undefined;
      const parts =
        step.role === "system"
          ? [{ type: "text", text: step.text }]
          : step.parts.map((part) =>
              part.part === "media"
                ? {
                    type: "file",
                    mediaType: part.type,
                    url: part.by === "url" ? part.url : `data:${part.type};base64,${part.data}`,
                    ...(part.name && { filename: part.name }),
                  }
                : part.part === "opaque"
                  ? { type: "data-note", id: `d${part.number}`, data: { note: part.text } }
                  : { type: "text", text: part.text },
            );
      messages.push({ id: `m${at}`, role: step.role, parts });
      continue;
    }
    if (!turn) messages.push((turn = { id: `m${at}`, role: "assistant", parts: [] }));
    const parts = step.parts.flatMap((part) => {
      switch (part.part) {
        case "reasoning":
          return [{ type: "reasoning", text: part.text, state: "done", providerMetadata: { openai: MODEL_NOTES.openai.reasoning(part) } }];
        case "text":
          return [{ type: "text", text: part.text, state: "done", providerMetadata: { openai: MODEL_NOTES.openai.text(part) } }];
        case "media":
          return [{ type: "file", mediaType: part.type, url: `data:${part.type};base64,${part.data}` }];
        case "source":
          return [{ type: "source-url", sourceId: `s${part.number}`, url: "https://tides.example", title: part.text }];
        case "opaque":
          return [{ type: "data-note", data: { note: part.text } }];
        default: {
          const { id, name, input, output, approval, isOpen, isProviders, number, text } = part;
          if (isProviders)
            return [
              {
                type: "tool-web_search",
                toolCallId: itemId("ws", part),
                input,
                state: "output-available",
                output: { action: { type: "search", query: text } },
                providerExecuted: true,
                callProviderMetadata: { openai: { itemId: itemId("ws", part) } },
              },
            ];
          const call = {
            ...(number % 3 === 0 ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` }),
            toolCallId: id,
            input,
            callProviderMetadata: { openai: MODEL_NOTES.openai.call(part) },
          };
          if (isOpen) return [{ ...call, state: "input-available" }];
          const approved = approval && { approval: { id: `appr_${number}`, approved: approval === "approved" } };
          if (approval === "denied") return [{ ...call, state: "output-denied", ...approved }];
          return [
            failed(output)
              ? { ...call, state: "output-error", errorText: asText(output), ...approved }
              : { ...call, state: "output-available", output: output.type === "content" ? asText(output) : output.value, ...approved },
          ];
        }
      }
    });
    turn.parts.push({ type: "step-start" }, ...parts);
  }
  return messages;
}

/** Messages of LangChain, as records of which the test makes the framework's own. */
function langchainRecords(step) {
  if (step.role === "system") return [{ class: "SystemMessage", content: step.text }];
  if (step.role === "user") {
    const parts = step.parts.map((part) => {
      if (part.part !== "media") return { type: "text", text: part.text };
      const { type, data, number } = part;
      if (type === "image/png") return chatImage(part);
      if (type === "audio/wav") return { type: "audio", source_type: "base64", mime_type: type, data };
      return { type: "file", source_type: "base64", mime_type: "application/pdf", data, metadata: { filename: part.name ?? `part-${number}.pdf` } };
    });
    return [{ class: "HumanMessage", content: parts.length === 1 && parts[0].type === "text" ? parts[0].text : parts }];
  }
  if (step.role === "tool") {
    return answered(step).map(({ id, name, output }) => ({
      class: "ToolMessage",
      tool_call_id: id,
      name,
      ...(failed(output) && { status: "error" }),
      content:
        output.type === "content" ? output.value.map((part) => (part.part === "text" ? { type: "text", text: part.text } : chatImage(part))) : asText(output),
    }));
  }
  const texts = step.parts.filter(({ part }) => ["text", "source", "opaque"].includes(part));
  const thoughts = step.parts.filter(({ part }) => part === "reasoning");
  const calls = step.parts.filter((part) => part.part === "call" && own(part));
  const isInvalid = ({ number }) => number % 11 === 0;
  const plain = texts.map(({ text }) => text).join("");
  const blocks = [
    ...thoughts.filter(({ round }) => round % 3 === 0).map(({ text }) => ({ type: "reasoning", reasoning: text })),
    ...texts.map(({ text }) => ({ type: "text", text })),
  ];
  const isBlocks = blocks.length > 0 && (blocks[0].type === "reasoning" || texts[0]?.number % 3 === 0);
  return [
    {
      class: "AIMessage",
      content: isBlocks ? blocks : plain,
      tool_calls: calls.filter((call) => !isInvalid(call)).map(({ id, name, input }) => ({ type: "tool_call", id, name, args: input })),
      invalid_tool_calls: calls
        .filter(isInvalid)
        .map(({ id, name, text }) => ({ type: "invalid_tool_call", id, name, args: `{"broken": ${text}`, error: "no JSON" })),
      ...(thoughts.length > 0 && !isBlocks && { additional_kwargs: { reasoning_content: thoughts.map(({ text }) => text).join("") } }),
      ...(isBlocks && blocks[0].type === "reasoning" && { response_metadata: { output_version: "v1" } }),
    },
  ];
}

const WRITERS = {
  "openai-chat": (steps) => steps.flatMap(chatMessages),
  "openai-responses": (steps) => steps.flatMap(responsesItems),
  anthropic: (steps) => steps.flatMap(anthropicMessages),
  gemini: (steps, draw) => {
    // A model signs its calls, or does not.
    const how = { withIds: draw.chance(0.5), isSigned: draw.chance(0.5) };
    return steps.flatMap((step) => geminiContents(step, how));
  },
  "ai-sdk-ui": uiMessages,
  langchain: (steps) => steps.flatMap(langchainRecords),
  ...Object.fromEntries(PROVIDERS.map((provider) => [`ai-sdk-model/${provider}`, (steps) => steps.flatMap(modelMessages(provider))])),
};

/** The forms of conversations; those of `ModelMessage` with the provider whose parts are in them. */
export const FORMS = Object.keys(WRITERS);

const ALL_TYPES = ["image/png", "image/png", "application/pdf", "text/plain", "audio/wav"];

/** Whether a message is an item of Responses that the model made. */
const isModelsItem = ({ id, type }) => id !== undefined && type !== undefined && !type.endsWith("_output");

/** A conversation in a form: its messages, and its instructions where they stand beside them. `types` are those of files of the user; `hasServers`: whether the provider runs tools of its own. */
export function conversation(draw, form, { types = ALL_TYPES, hasServers = true } = {}) {
  const { steps, kinds } = script(draw, { types, hasServers });
  const system = steps[0].role === "system" && (form === "anthropic" || form === "gemini") ? steps[0].text : undefined;
  let messages = WRITERS[form](steps, draw);
  // A caller that forgets a message, hands one over twice, or keeps the last ones. Reasoning stays with what it led to.
  const at = draw.below(messages.length);
  if (draw.chance(0.08) && messages.length > 2 && messages[at].type !== "reasoning") messages.splice(at, 1);
  if (draw.chance(0.05)) {
    const [to, from] = [draw.below(messages.length), draw.below(messages.length)];
    // Nobody has an item of the model, whose id the provider gave it, before its answer.
    messages.splice(isModelsItem(messages[from]) ? Math.max(to, from + 1) : to, 0, messages[from]);
  }
  if (draw.chance(0.04) && messages.length > 2) messages = messages.slice(1 + draw.below(2));
  const isTurn = ({ role, class: name }) => role === "user" || name === "HumanMessage";
  const begin = messages.findIndex((message) => message.role !== "system" && message.role !== "developer" && message.class !== "SystemMessage");
  const first = messages.findIndex(isTurn);
  if (first > begin) messages.splice(begin, first - begin);
  // Without a word of the user there is nothing to answer.
  if (first === -1 && form.startsWith("ai-sdk-model")) messages.splice(Math.max(begin, 0), 0, { role: "user", content: "go on" });
  // Google's and Anthropic's converters of the AI SDK take instructions at the beginning alone.
  const instructions = messages.findIndex(({ role }) => role === "system");
  if (form.startsWith("ai-sdk-model") && instructions > 0) messages = messages.slice(instructions);
  // The AI SDK writes no two answers in a row.
  if (form.startsWith("ai-sdk")) messages = messages.filter(({ role }, index) => role !== "assistant" || messages[index - 1]?.role !== role);
  return { form, messages, kinds, ...(system !== undefined && { system: form === "gemini" ? { parts: [{ text: system }] } : system }) };
}
