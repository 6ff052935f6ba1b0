// Calls of a model of the AI SDK as its middleware sees them: the prompt is compiled, and calls of the tools that are added are
// answered here, as the SDK's loop does not know them. To the SDK they are calls that the provider ran; so they stand in its
// messages with their results, and the next prompt tells of them.
import { addedOffers, callOffer, framedTokens } from "./agent-loop.js";
import type { AgentLoop, DescribedTool } from "./agent-loop.js";
import { beginning } from "./cache-key.js";
import type { CacheKey } from "./cache-key.js";
import { choiceOf, forcedTool } from "./forced-choice.js";
import { lastTurn } from "./last-turn.js";
import { MODEL_MARKS, isServedByOpenAi, pricesOfModel } from "./model-marks.js";
import type { ModelMarks } from "./model-marks.js";
import { takeMarks } from "./moving-marks.js";
import { promptMessage, readPart } from "./model-prompt.js";
import type { Fields } from "./model-prompt.js";
import { sumOf } from "./usage-sum.js";
import type { JsonObject } from "contextweaver";

/** A model of the SDK, as far as it is needed. */
export interface CalledModel {
  readonly specificationVersion: string;
  readonly modelId: string;
  /** Whose model it is, such as `openai.responses`. */
  readonly provider?: unknown;
  readonly doGenerate: (params: never) => PromiseLike<object>;
  readonly doStream: (params: never) => PromiseLike<object>;
}

/** What a model said at once, in the parts of it that are read. */
interface Generated {
  readonly content: readonly Fields[];
  readonly usage?: Fields;
  readonly warnings?: readonly object[];
}

/** What a model says little by little. */
interface Streamed {
  readonly stream: ReadableStream<Fields>;
}

const definitionOf = ({ name, description, schema }: DescribedTool): Fields => ({
  type: "function",
  name,
  description,
  inputSchema: schema,
});
const CALL = callOffer().name;
const ADDED: ReadonlyMap<unknown, Fields> = new Map(
  [...addedOffers(), callOffer()].map((tool) => [tool.name, definitionOf(tool)]),
);
const isAdded = ({ toolName }: Fields): boolean => ADDED.has(toolName);

/** How the calls of a conversation are served. */
export interface CallsOptions {
  /** How many times the model is asked again within a call, after it called added tools alone. */
  readonly most: number;
  readonly key: CacheKey;
  /** What marks prompts for models of Anthropic, where that is wanted. */
  readonly marks: ModelMarks | undefined;
}

/** The calls of one conversation. */
export class ModelCalls {
  readonly #loop: AgentLoop;
  readonly #options: CallsOptions;
  #tools: readonly Fields[] | undefined;

  constructor(loop: AgentLoop, options: CallsOptions) {
    [this.#loop, this.#options] = [loop, options];
  }

  async generate(params: object, model: CalledModel): Promise<object> {
    const call = this.#begun(params, model);
    const content: Fields[] = [];
    const warnings = new Map<string, object>();
    for (;;) {
      const said = (await model.doGenerate((await call.params()) as never)) as Generated;
      const taken = await call.take(
        said.content.map((part) => call.read(part)),
        said.usage,
      );
      content.push(...taken.content, ...taken.results);
      for (const warning of said.warnings ?? []) warnings.set(JSON.stringify(warning), warning);
      if (!taken.isOpen) return { ...said, content, usage: call.usage, warnings: [...warnings.values()] };
    }
  }

  async stream(params: object, model: CalledModel): Promise<object> {
    const call = this.#begun(params, model);
    const ask = async (): Promise<Streamed> => (await model.doStream((await call.params()) as never)) as Streamed;
    const first = await ask();
    return { ...first, stream: goingOn(call, first, ask) };
  }

  #begun(params: object, model: CalledModel): ModelCall {
    const { tools = [] } = params as { readonly tools?: readonly Fields[] };
    if (this.#tools === undefined || !isSameList(this.#tools, tools)) {
      this.#loop.setTools(
        tools.map(({ type, providerOptions, ...definition }) => ({
          name: String(definition["name"]),
          description: definition["description"] as string | undefined,
          schema: definition["inputSchema"] as JsonObject | undefined,
          definition,
        })),
      );
      this.#tools = tools;
    }
    return new ModelCall(this.#loop, params as Fields, model, this.#options);
  }
}

/** A call of the SDK, which may be several of the model. */
class ModelCall {
  readonly #loop: AgentLoop;
  readonly #params: Fields;
  readonly #model: CalledModel;
  readonly #reserved_tokens: number;
  #conversation: readonly Fields[];
  #left: number;
  readonly #key: CacheKey;
  readonly #marks: ModelMarks | undefined;
  /** What all calls of the model cost together. */
  usage: Fields | undefined;

  constructor(loop: AgentLoop, params: Fields, model: CalledModel, { most, key, marks }: CallsOptions) {
    [this.#loop, this.#params, this.#model, this.#left, this.#key] = [loop, params, model, most, key];
    this.#marks = marks;
    this.#conversation = (params["prompt"] as readonly Fields[]).flatMap(readMessage);
    const { schema } = (params["responseFormat"] ?? {}) as Fields;
    this.#reserved_tokens = schema === undefined ? 0 : framedTokens([JSON.stringify(schema)]);
  }

  get isAborted(): boolean {
    return (this.#params["abortSignal"] as { readonly aborted: boolean } | undefined)?.aborted === true;
  }

  /** What the model is asked next. */
  async params(): Promise<Fields> {
    const { prompt: _, tools = [], toolChoice: choice, ...rest } = this.#keyed();
    const { messages, putBack } = takeMarks(this.#conversation, MODEL_MARKS);
    const { query, called } = lastTurn(messages);
    const forced = forcedTool(choice);
    const { built, tools: names } = await this.#loop.stepLater("ai-sdk-model", messages, {
      query,
      called,
      demanded: forced,
      reserved_tokens: this.#reserved_tokens,
      model: this.#model.modelId,
      signal: this.#params["abortSignal"] as AbortSignal | undefined,
      prices: pricesOfModel(this.#model),
    });
    const given = new Map((tools as readonly Fields[]).map((tool) => [tool["name"], tool]));
    const offered = names.map((name) => (given.get(name) ?? ADDED.get(name)) as Fields);
    const own = offered.filter(({ name }) => given.has(name));
    // Whoever may call nothing more still says something.
    const isLast = this.#left === 0 && own.length === 0;
    const sent =
      (choice as Fields | undefined)?.["type"] === "none" || (this.#left === 0 && own.length > 0) ? own : offered;
    const prompt = promptOf(putBack(built.messages as unknown as readonly Fields[]), this.#model.specificationVersion);
    const toolChoice = isLast
      ? { type: "none" }
      : choiceOf(choice, forced, given, new Set(sent.map(({ name }) => name)), { type: "auto" });
    const marked = this.#marks?.mark({ prompt, tools: sent }, this.#model, { ...rest, toolChoice }) ?? {
      prompt,
      tools: sent,
    };
    return {
      ...rest,
      prompt: marked.prompt,
      // A choice among no tools is refused.
      ...(sent.length > 0 && { tools: marked.tools, toolChoice }),
    };
  }

  /** The params with the key of the conversation, where the provider takes one; one of the caller's stands. */
  #keyed(): Fields {
    const promptCacheKey = this.#key.of(isServedByOpenAi(this.#model), () => beginning(this.#conversation));
    if (promptCacheKey === undefined) return this.#params;
    const { openai, ...options } = (this.#params["providerOptions"] ?? {}) as Fields;
    return {
      ...this.#params,
      providerOptions: { ...options, openai: { promptCacheKey, ...(openai as Fields | undefined) } },
    };
  }

  /**
   * Reads a part of what the model said: a call of `call_tool` as the call of the SDK's own tool that it stands for. The SDK then runs
   * it as any other, with its approvals. What stands for none is answered here.
   */
  read(part: Fields): Fields {
    const { type, toolName, input } = part;
    const meant = type === "tool-call" && toolName === CALL ? this.#loop.resolveText(CALL, input) : undefined;
    return meant ? { ...part, toolName: meant.name, input: meant.arguments } : part;
  }

  /**
   * Takes what the model said: what of it the SDK is told, the results of calls that were answered here, and whether the model is to
   * be asked again. Where it called other tools as well, the SDK's loop does that.
   */
  async take(
    said: readonly Fields[],
    usage: Fields | undefined,
  ): Promise<{ readonly content: readonly Fields[]; readonly results: readonly Fields[]; readonly isOpen: boolean }> {
    this.usage = this.usage === undefined ? usage : sumOf(this.usage, usage);
    const paid = (usage?.["inputTokens"] ?? {}) as Fields;
    this.#loop.observe(this.#model.modelId, paid["total"], {
      input_tokens_details: { cached_tokens: paid["cacheRead"] },
    });
    const calls = said.filter((part) => part["type"] === "tool-call" && part["providerExecuted"] !== true);
    const answered = calls.filter(isAdded);
    const results: Fields[] = [];
    for (const { toolCallId, toolName, input } of answered) {
      const result = (await this.#loop.answerAsync(String(toolName), input, String(toolCallId))) as string;
      results.push({ type: "tool-result", toolCallId, toolName, result, ...RUN_HERE });
    }
    const content = said.map((part) => (answered.includes(part) ? { ...part, ...RUN_HERE } : part));
    const isOpen = this.#left > 0 && answered.length > 0 && answered.length === calls.length;
    this.#left -= 1;
    if (isOpen)
      this.#conversation = [
        ...this.#conversation,
        ...readMessage({ role: "assistant", content: [...content, ...results].flatMap(promptPartOf) }),
      ];
    return { content, results, isOpen };
  }
}

const RUN_HERE = { providerExecuted: true, dynamic: true };

/** Writes a prompt, in which the results of a turn are one message, as the SDK writes them. */
function promptOf(messages: readonly Fields[], version: string): Fields[] {
  const prompt: Fields[] = [];
  for (const message of messages.map((one) => promptMessage(one, version))) {
    const last = prompt.at(-1);
    if (last?.["role"] !== "tool" || message["role"] !== "tool") prompt.push(message);
    else
      prompt[prompt.length - 1] = {
        ...last,
        content: [...(last["content"] as readonly Fields[]), ...(message["content"] as readonly Fields[])],
      };
  }
  return prompt;
}

/** Reads a message of a prompt. What was answered here becomes calls and results as of any tool, turn by turn. */
function readMessage({ role, content, ...rest }: Fields): Fields[] {
  if (!Array.isArray(content)) return [{ role, content, ...rest }];
  const parts = (content as readonly Fields[]).map(readPart);
  if (role !== "assistant" || !parts.some(isAdded)) return [{ role, content: parts, ...rest }];
  const messages: { role: string; content: Fields[] }[] = [];
  for (const part of parts) {
    const isResult = part["type"] === "tool-result" && isAdded(part);
    const wanted = isResult ? "tool" : "assistant";
    const { providerExecuted: _, ...plain } = part;
    const one = isAdded(part) ? plain : part;
    const last = messages.at(-1);
    if (last?.role === wanted) last.content.push(one);
    else messages.push({ role: wanted, content: [one], ...rest });
  }
  return messages;
}

/** Makes what a model said a part of a prompt, as the SDK does for the next call; where things were found is no part of one. */
function promptPartOf({ providerMetadata, ...part }: Fields): Fields[] {
  const noted = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  const { type, toolCallId, toolName, input, result } = part;
  if (type === "tool-call")
    return [
      {
        type,
        toolCallId,
        toolName,
        input: argumentsOf(input),
        ...(part["providerExecuted"] === true && { providerExecuted: true }),
        ...noted,
      },
    ];
  if (type === "tool-result")
    return [
      {
        type,
        toolCallId,
        toolName,
        output: typeof result === "string" ? { type: "text", value: result } : { type: "json", value: result },
        ...noted,
      },
    ];
  if (type === "source" || type === "tool-approval-request" || (type === "text" && part["text"] === "")) return [];
  return [{ ...part, ...noted }];
}

function argumentsOf(input: unknown): unknown {
  try {
    return typeof input === "string" ? JSON.parse(input) : input;
  } catch {
    return {};
  }
}

/** Passes on what a model says, and asks it again as long as the call is open. */
function goingOn(call: ModelCall, first: Streamed, ask: () => Promise<Streamed>): ReadableStream<Fields> {
  let reader = first.stream.getReader();
  let isCancelled = false;
  async function* parts(): AsyncGenerator<Fields> {
    for (let round = 0; ; round++) {
      const said = new Said();
      let finish: Fields | undefined;
      let failed = false;
      const hidden = new Set<unknown>();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        const part = call.read(read.value);
        // What a call is of shows when it is whole.
        if (part["type"] === "tool-input-start" && part["toolName"] === CALL) hidden.add(part["id"]);
        if (String(part["type"]).startsWith("tool-input-") && hidden.has(part["id"])) continue;
        if (part["type"] === "finish") finish = part;
        else {
          failed ||= part["type"] === "error";
          said.add(part);
          if (round === 0 || part["type"] !== "stream-start") yield told(part, round);
        }
      }
      if (isCancelled) return;
      const { results, isOpen } = await call.take(said.content(), finish?.["usage"] as Fields | undefined);
      if (isCancelled) return;
      yield* results;
      // After an error the SDK ends the step.
      if (!isOpen || !finish || failed) {
        if (finish) yield { ...finish, usage: call.usage };
        return;
      }
      try {
        reader = (await ask()).stream.getReader();
      } catch (error) {
        // A call that is aborted ends as the SDK ends it; what else goes wrong is told as by a model.
        if (call.isAborted) throw error;
        yield { type: "error", error };
        yield { ...finish, finishReason: { unified: "error", raw: undefined }, usage: call.usage };
        return;
      }
      if (isCancelled) return reader.cancel();
    }
  }
  const passed = parts();
  return new ReadableStream<Fields>({
    async pull(controller) {
      const next = await passed.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel(reason) {
      isCancelled = true;
      await reader.cancel(reason);
    },
  });
}

/** Marks calls that are answered here, and tells texts of one round from those of another. */
function told(part: Fields, round: number): Fields {
  const { type, id, toolName } = part;
  if (type === "tool-input-start" && ADDED.has(toolName) && part["providerExecuted"] !== true)
    return { ...part, ...RUN_HERE };
  if (type === "tool-call" && isAdded(part) && part["providerExecuted"] !== true) return { ...part, ...RUN_HERE };
  return round > 0 && /^(text|reasoning)-/.test(String(type)) ? { ...part, id: `${round}:${String(id)}` } : part;
}

const WHOLE = ["tool-call", "tool-result", "file", "reasoning-file", "custom"];

/** What a model said, out of the parts of a stream. */
class Said {
  readonly #parts: Fields[] = [];
  /** Where texts stand that are still written. */
  readonly #open = new Map<unknown, number>();

  add(part: Fields): void {
    const { type, id, delta, providerMetadata } = part;
    const [, kind, event] = /^(text|reasoning)-(start|delta|end)$/.exec(String(type)) ?? [];
    if (kind === undefined) {
      if (WHOLE.includes(String(type))) this.#parts.push(part);
      return;
    }
    const key = `${kind}:${String(id)}`;
    if (event === "start") this.#open.set(key, this.#parts.push({ type: kind, text: "" }) - 1);
    const at = this.#open.get(key);
    const before = at === undefined ? undefined : this.#parts[at];
    if (at === undefined || !before) return;
    this.#parts[at] = {
      ...before,
      text: `${String(before["text"])}${String(delta ?? "")}`,
      ...(providerMetadata !== undefined && { providerMetadata }),
    };
    if (event === "end") this.#open.delete(key);
  }

  content(): readonly Fields[] {
    return this.#parts;
  }
}

/** Whether two lists have the same tools: they are made anew for each call. */
function isSameList(one: readonly Fields[], other: readonly Fields[]): boolean {
  return (
    one.length === other.length &&
    one.every((tool, at) => tool === other[at] || JSON.stringify(tool) === JSON.stringify(other[at]))
  );
}
