// `contextweaver/ai-sdk`: the AI SDK's own loop, versions 6 and 7, with the SDK's own types. It imports no SDK.
import { AgentLoop, FIND_TOOLS, callOffer, drilldownOffer, recallOffer } from "./adapters/agent-loop.js";
import type {
  AgentLoopOptions,
  AgentLoopStep,
  DescribedTool,
  Debug,
  LeftOut,
  LoopReport,
  StepReport,
  DrilldownInput,
  FindToolsInput,
  OfferedTool,
  RecallInput,
} from "./adapters/agent-loop.js";
import type { LoopCosts } from "./adapters/loop-report.js";
import { choiceOf, forcedTool } from "./adapters/forced-choice.js";
import { handleOf } from "./adapters/handle.js";
import type { ContextWeaverHandle } from "./adapters/handle.js";
import { lastTurn } from "./adapters/last-turn.js";
import { runnerOf } from "./adapters/ai-sdk-runner.js";
import type { CallToolInput } from "./adapters/ai-sdk-runner.js";
import { CacheKey, beginning, checkedCacheKey } from "./adapters/cache-key.js";
import { MODEL_MARKS, marksOf, pricesOfModel } from "./adapters/model-marks.js";
import { takeMarks } from "./adapters/moving-marks.js";
import { ModelCalls } from "./adapters/model-calls.js";
import type { CalledModel } from "./adapters/model-calls.js";
import { aiSdkSchema } from "./catalog/tool-set.js";
import { ContextWeaverError } from "contextweaver";
import type { AiSdkModelMessage, AiSdkTool, JsonObject } from "contextweaver";

export type {
  AgentLoopOptions,
  AgentLoopStep,
  ContextWeaverHandle,
  Debug,
  LoopCosts,
  LeftOut,
  LoopReport,
  StepReport,
  CallToolInput,
  DrilldownInput,
  FindToolsInput,
  RecallInput,
};

/** Tools as the SDK takes them, by name. */
export type AiSdkTools = Readonly<Record<string, object>>;

/** A tool that the loop adds. */
export interface AiSdkAddedTool<Input> extends AiSdkTool {
  readonly execute: (
    input: Input,
    options?: { readonly toolCallId?: string; readonly abortSignal?: AbortSignal },
  ) => Promise<string>;
}

/** The tool that runs others. */
export interface AiSdkCallTool extends AiSdkTool {
  readonly execute: (input: CallToolInput, options?: { readonly toolCallId?: string }) => Promise<unknown>;
}

/** The tools that the loop adds. An alias, as only these are sets of tools to the compiler. */
export type AiSdkAddedTools = {
  /** Reads on in a result of which the prompt shows a part; offered when there is one. */
  readonly drilldown: AiSdkAddedTool<DrilldownInput>;
  /** Finds again what left the prompt; offered with the one above. */
  readonly recall: AiSdkAddedTool<RecallInput>;
  /** Finds tools that were not offered; offered when there are more than `max_tools`. */
  readonly find_tools: AiSdkAddedTool<FindToolsInput>;
  /** Runs one of them; offered with the one above. It needs your approval where the tool does, and answers what the tool answers. */
  readonly call_tool: AiSdkCallTool;
};

/** How the loop of an agent is served. */
export interface ContextWeaverOptions<Tools extends AiSdkTools> extends Omit<AgentLoopOptions, "always"> {
  /** All tools there are: thousands cost nothing until a query needs them. */
  readonly tools: Tools;
  /** Names of tools that are offered in every step. Default: none. */
  readonly always?: readonly (keyof Tools & string)[];
  /**
   * `promptCacheKey` of the calls, by which OpenAI sends those of a conversation to where its prompt is cached: a text, or `true` for one
   * that is made of what the conversation begins with. It takes the place of one in your `providerOptions`, which `prepareStep` does not
   * see. Default: false.
   */
  readonly cache_key?: boolean | string;
  /**
   * Marks prompts for models of Anthropic, whoever serves them, with `cacheControl` or on Amazon Bedrock with `cachePoint`, so that each
   * call reads what those before it have written. Your own marks count. Default: true.
   */
  readonly cache?: boolean;
}

/** What the SDK tells `prepareStep`, as far as it is needed. */
export interface AiSdkStepInput {
  readonly messages: readonly unknown[];
  /** Since version 7. */
  readonly initialInstructions?: unknown;
  /** What was called before in this run, with what it cost. */
  readonly steps?: readonly { readonly usage?: { readonly inputTokens?: number | undefined } }[];
  /** The model that is going to be called. */
  readonly model?: string | { readonly modelId: string; readonly provider?: string };
  /** The choice among tools of this step, which the SDK itself does not tell: a tool that it forces is offered. */
  readonly toolChoice?: AiSdkToolChoice | undefined;
}

/** A choice among tools, as `generateText` takes it. */
export type AiSdkToolChoice<Names extends string = string> =
  | "auto"
  | "none"
  | "required"
  | { type: "tool"; toolName: Names };

/** Instructions as a message. */
export type AiSdkInstructions = Extract<AiSdkModelMessage, { role: "system" }>;

/** What `prepareStep` answers. */
export interface AiSdkStep<Names extends string> {
  messages: AiSdkModelMessage[];
  /**
   * The tools of the step. They take the place of the `activeTools` of `generateText`, which `prepareStep` does not see: leave a tool
   * that is switched off out of `tools`.
   */
  activeTools: Names[];
  /** The choice that was given: `auto` in place of one that forces a tool for which there was no room. */
  toolChoice?: AiSdkToolChoice<Names>;
  /**
   * The instructions, when there are any: a text, or messages where one has options, such as a mark. Version 6 gets them among the
   * messages.
   */
  system?: string | AiSdkInstructions[];
  /** The key of the conversation, where `cache_key` asks for it. */
  providerOptions?: { openai: { promptCacheKey: string } };
}

/** What `generateText`, `streamText` and agents of the SDK take. */
export interface ContextWeaver<Tools extends AiSdkTools> extends ContextWeaverHandle {
  /** Yours and those of the loop. */
  readonly tools: Tools & AiSdkAddedTools;
  readonly prepareStep: (step: AiSdkStepInput) => Promise<AiSdkStep<(keyof Tools & string) | keyof AiSdkAddedTools>>;
}

/** How the calls of a model are served, whose tools come with each call. */
export interface MiddlewareOptions extends AgentLoopOptions {
  /** They come with each call of the model. */
  readonly tools?: never;
  /**
   * How many times the model is asked again within one call, after it called `drilldown`, `recall` or `find_tools`. The last time it is not
   * offered these. Default: 8.
   */
  readonly max_rounds?: number;
  /**
   * `promptCacheKey` of the calls, by which OpenAI sends those of a conversation to where its prompt is cached: a text, or `true` for one
   * that is made of what the conversation begins with. One in `providerOptions` stays. Default: `true` for OpenAI's models.
   */
  readonly cache_key?: boolean | string;
  /**
   * Marks prompts for models of Anthropic, whoever serves them, with `cacheControl` or on Amazon Bedrock with `cachePoint`, so that each
   * call reads what those before it have written. Your own marks count. Default: true.
   */
  readonly cache?: boolean;
}

/** What the SDK tells its middleware of a call, as far as it is needed. */
export interface AiSdkModelCall<Params extends object> {
  readonly params: Params;
  /** A model of the SDK. */
  readonly model: { readonly specificationVersion: string; readonly modelId: string };
}

/** What `wrapLanguageModel` takes as `middleware`. */
export interface ContextWeaverMiddleware extends ContextWeaverHandle {
  readonly specificationVersion: "v3";
  readonly wrapGenerate: <Params extends object, Result extends object>(
    call: AiSdkModelCall<Params> & { readonly doGenerate: () => PromiseLike<Result> },
  ) => Promise<Result>;
  readonly wrapStream: <Params extends object, Result extends object>(
    call: AiSdkModelCall<Params> & { readonly doStream: () => PromiseLike<Result> },
  ) => Promise<Result>;
}

/**
 * Serves one conversation: in each step of the SDK's loop the log is brought in line with the messages, large results are
 * digested, tools are chosen, and what is sent keeps to the budget, by what the calls before cost as soon as one is known
 * (`calibrate: false` of the manager's options leaves it at the estimate). Take another one for another conversation; the turns of one
 * may be any number of calls of `generateText` or `streamText`.
 *
 * Errors of `prepareStep`: `BUDGET_EXCEEDED` when the last message of the user does not fit, `UNSUPPORTED` for a tool whose schema
 * cannot tell its JSON Schema, as those of Zod 3, and those of `ContextManager.syncMessages`.
 */
export function contextWeaver<Tools extends AiSdkTools>(options: ContextWeaverOptions<Tools>): ContextWeaver<Tools>;
/**
 * Serves one conversation as a middleware, which sees each call of the model and chooses among the tools of the call. Calls of
 * `drilldown`, `recall` and `find_tools` are answered in it, and the model is asked again; the SDK is told of them as of tools that the
 * provider runs, so that they stand in its messages. A model is wrapped anew for each conversation.
 *
 * Errors of a call: those of `prepareStep`, and `DUPLICATE_ID` when a tool has the name of one of these.
 */
export function contextWeaver(options: MiddlewareOptions): ContextWeaverMiddleware;
export function contextWeaver(
  options: ContextWeaverOptions<AiSdkTools> | MiddlewareOptions,
): ContextWeaver<AiSdkTools> | ContextWeaverMiddleware {
  const given = options ?? {};
  return "tools" in given ? served(given as ContextWeaverOptions<AiSdkTools>) : middlewareOf(given);
}

/** How often a model is asked again that reads on in results, or looks for tools. */
const MAX_ROUNDS = 8;

function middlewareOf({
  max_rounds = MAX_ROUNDS,
  cache_key,
  cache,
  ...options
}: MiddlewareOptions): ContextWeaverMiddleware {
  if (!Number.isInteger(max_rounds) || max_rounds < 1)
    throw new ContextWeaverError("INVALID_INPUT", "expected a whole number of rounds", { path: "/max_rounds" });
  const key = new CacheKey(checkedCacheKey(cache_key));
  const loop = new AgentLoop(options, ["max_rounds", "cache_key", "cache"]);
  const calls = new ModelCalls(loop, { most: max_rounds, key, marks: marksOf(cache) });
  const middleware: ContextWeaverMiddleware = {
    specificationVersion: "v3",
    wrapGenerate: async <Params extends object, Result extends object>({ params, model }: AiSdkModelCall<Params>) =>
      (await calls.generate(params, model as CalledModel)) as Result,
    wrapStream: async <Params extends object, Result extends object>({ params, model }: AiSdkModelCall<Params>) =>
      (await calls.stream(params, model as CalledModel)) as Result,
    ...handleOf(loop),
  };
  // Whoever forgot the tools would go on without them, and without this.
  const get = (): never => refuseTools("MISSING_FIELD");
  return Object.defineProperties(middleware, { tools: { get }, prepareStep: { get } });
}

function refuseTools(code: "MISSING_FIELD" | "INVALID_INPUT"): never {
  throw new ContextWeaverError(code, "expected a set of tools", {
    path: "/tools",
    hint: "tools as generateText takes them, by name; {} for none",
  });
}

function served<Tools extends AiSdkTools>(options: ContextWeaverOptions<Tools>): ContextWeaver<Tools> {
  type Name = (keyof Tools & string) | keyof AiSdkAddedTools;
  const { tools, cache_key, cache, ...rest } = options;
  const marks = marksOf(cache);
  const key = new CacheKey(checkedCacheKey(cache_key));
  if (typeof tools !== "object" || tools === null) refuseTools(tools === undefined ? "MISSING_FIELD" : "INVALID_INPUT");
  const loop = new AgentLoop(rest, ["tools", "cache_key", "cache"]);
  const conversation = new Conversation();
  let reading: Promise<void> | undefined;
  let isReady = false;
  const read = async (): Promise<void> => {
    loop.setTools(await offered(tools));
    isReady = true;
  };
  // What was approved is run before the first step.
  const prepared = (): Promise<void> | undefined => (isReady ? undefined : (reading ??= read()));
  /** The call whose cost was taken last, and the model of the last step. */
  let paid: object | undefined;
  let asked: string | undefined;
  const added: AiSdkAddedTools = {
    drilldown: addedTool(drilldownOffer(), loop),
    recall: addedTool(recallOffer(), loop),
    find_tools: addedTool(FIND_TOOLS, loop),
    // What depends on the tool that is meant has no type of its own there.
    call_tool: {
      description: callOffer().description,
      inputSchema: aiSdkSchema(callOffer().schema),
      ...runnerOf(tools, loop, prepared),
    } as AiSdkCallTool,
  };
  return {
    ...handleOf(loop),
    tools: { ...tools, ...added },
    async prepareStep(step) {
      await prepared();
      const messages = conversation.behind(step);
      const bare = takeMarks(messages, MODEL_MARKS);
      const model = typeof step.model === "string" ? step.model : step.model?.modelId;
      const last = step.steps?.at(-1);
      // A step that is tried again is told of the same call.
      if (asked !== undefined && last !== undefined && last !== paid)
        loop.observe(asked, last.usage?.inputTokens, last.usage as Readonly<Record<string, unknown>> | undefined);
      paid = last;
      const demanded = forcedTool(step.toolChoice);
      const compiled = await loop.stepLater("ai-sdk-model", bare.messages, {
        ...lastTurn(bare.messages),
        demanded,
        model,
        prices: pricesOfModel(step.model ?? ""),
      });
      asked = model;
      const written = bare.putBack(compiled.built.messages);
      // The tools, which are before them, are the same each time; the SDK has them.
      const marked = step.model && marks?.mark({ prompt: written, tools: [] }, step.model, {});
      const sent = [...(marked ? marked.prompt : written)];
      const split = "initialInstructions" in step ? withoutSystem(sent) : { messages: sent };
      conversation.remember({ conversation: messages, messages: split.messages });
      const promptCacheKey = key.of(false, () => beginning(messages));
      const keyed = promptCacheKey === undefined ? {} : { providerOptions: { openai: { promptCacheKey } } };
      const offers = new Set(compiled.tools);
      const toolChoice = choiceOf(step.toolChoice, demanded, new Map(Object.entries(tools)), offers, "auto") as
        | AiSdkToolChoice<Name>
        | undefined;
      return {
        ...split,
        ...keyed,
        activeTools: [...offers] as Name[],
        ...(toolChoice !== undefined && { toolChoice }),
      };
    },
  };
}

/** What stood behind messages that were sent. */
interface Sent {
  readonly conversation: readonly unknown[];
  readonly messages: readonly unknown[];
}

/**
 * Finds the conversation behind what a step is told. Since version 7 the SDK goes on with the messages of the step before, which
 * are ours, and adds what came since; version 6 tells the whole conversation every time.
 */
class Conversation {
  /** By the first message, which is an object of its own each time; a step that is tried again finds the same. */
  readonly #sent = new WeakMap<object, Sent>();

  behind({ messages, initialInstructions }: AiSdkStepInput): readonly unknown[] {
    const sent = this.#sent.get(messages[0] as object);
    if (sent) return [...sent.conversation, ...messages.slice(sent.messages.length)];
    const instructions = [initialInstructions].flat().filter((one) => one !== undefined && one !== null);
    return [
      ...instructions.map((one) => (typeof one === "string" ? { role: "system", content: one } : one)),
      ...messages,
    ];
  }

  remember(sent: Sent): void {
    const [first] = sent.messages;
    if (first !== undefined) this.#sent.set(first as object, sent);
  }
}

/** Takes the instructions out of the messages. */
function withoutSystem(messages: readonly AiSdkModelMessage[]): Pick<AiSdkStep<string>, "messages" | "system"> {
  const isSystem = (message: AiSdkModelMessage): message is AiSdkInstructions => message.role === "system";
  const system = messages.filter(isSystem);
  const isPlain = system.every((message) => !("providerOptions" in message));
  return {
    messages: messages.filter((message) => !isSystem(message)),
    ...(system.length > 0 && { system: isPlain ? system.map(({ content }) => content).join("\n\n") : system }),
  };
}

function addedTool<Input>({ name, description, schema }: DescribedTool, loop: AgentLoop): AiSdkAddedTool<Input> {
  return {
    description,
    inputSchema: aiSdkSchema(schema),
    // The SDK has checked nothing of the input.
    execute: (input, options) =>
      loop.answerAsync(name, input, options?.toolCallId, options?.abortSignal) as Promise<string>,
  };
}

/** What the SDK takes for the schema of a tool that has none. */
const NO_INPUT: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** Reads what the SDK's tools say of themselves. */
async function offered(tools: AiSdkTools): Promise<OfferedTool[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]) => {
      const { description, inputSchema, type } = tool as {
        readonly description?: unknown;
        readonly inputSchema?: unknown;
        readonly type?: unknown;
      };
      // A tool of the provider's is known to it by its name.
      const isHosted = typeof type === "string" && type.startsWith("provider");
      const schema = inputSchema === undefined && !isHosted ? NO_INPUT : await jsonSchemaOf(inputSchema);
      if (schema === undefined && !isHosted) {
        throw new ContextWeaverError("UNSUPPORTED", "the schema cannot tell its JSON Schema", {
          path: `/tools/${name}/inputSchema`,
          hint: "wrap one of Zod 3, or of Zod 4 before 4.2, in `zodSchema` of `ai`",
        });
      }
      return { name, description: typeof description === "string" ? description : undefined, schema };
    }),
  );
}

/** The JSON Schema of what the SDK takes for one: its own, also one that is made late, or a Standard Schema that can tell. */
async function jsonSchemaOf(given: unknown): Promise<JsonObject | undefined> {
  const schema =
    typeof given === "function" && !("~standard" in given) ? ((given as () => unknown)() as unknown) : given;
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  const { jsonSchema, "~standard": standard } = schema as {
    readonly jsonSchema?: unknown;
    readonly "~standard"?: {
      readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => unknown };
    };
  };
  return (await (jsonSchema ?? standard?.jsonSchema?.input?.({ target: "draft-07" }))) as JsonObject | undefined;
}
