// Marks in prompts of the AI SDK for models of Anthropic, whose provider caches up to marks and nothing without: `cacheControl` or, of
// Amazon Bedrock, `cachePoint` among the options of a part.
import { pricesOf } from "./agent-loop.js";
import { CachePlan, isForAnHour, isMarking } from "./cache-plan.js";
import type { PromptBlock } from "./cache-plan.js";
import type { Fields } from "./model-prompt.js";
import type { MarkSyntax } from "./moving-marks.js";

/** A model of the SDK, or its name where a gateway finds it, such as `anthropic/claude-sonnet-4.5`. */
export type NamedModel = string | { readonly modelId: string; readonly provider?: unknown };

function namesOf(model: NamedModel): { readonly provider: string; readonly modelId: string } {
  if (typeof model === "string") return { provider: "gateway", modelId: model };
  return { provider: typeof model.provider === "string" ? model.provider : "", modelId: model.modelId };
}

/** Whose prices a model has. Gateways and clouds serve models of others, so that its name tells where its provider does not. */
export function pricesOfModel(model: NamedModel): ReturnType<typeof pricesOf> {
  const { provider, modelId } = namesOf(model);
  return pricesOf(provider) ?? pricesOf(modelId);
}

/** Whether OpenAI gets the SDK's options for it. */
export function isServedByOpenAi(model: NamedModel): boolean {
  const { provider, modelId } = namesOf(model);
  return provider.startsWith("openai.") || (provider === "gateway" && modelId.startsWith("openai/"));
}

/** How a provider is told of a mark. */
interface MarkForm {
  /** Among the options of a block: the name of the provider that reads it, its field, and the mark. */
  readonly provider: string;
  readonly field: string;
  readonly mark: object;
  /** Whether it is of messages: tools take none, and older versions of the provider do not read those of parts. */
  readonly isOfMessages: boolean;
}

/** Gateways read it, too: Vercel's hands options on, and OpenRouter takes those of Anthropic for its own. */
const ANTHROPIC: MarkForm = {
  provider: "anthropic",
  field: "cacheControl",
  mark: { type: "ephemeral" },
  isOfMessages: false,
};
const BEDROCK: MarkForm = {
  provider: "bedrock",
  field: "cachePoint",
  mark: { type: "default" },
  isOfMessages: true,
};

/** By which names providers of the SDK read marks. */
const READ: ReadonlyMap<string, readonly string[]> = new Map([
  ["anthropic", ["cacheControl", "cache_control"]],
  ["openrouter", ["cacheControl", "cache_control"]],
  ["bedrock", ["cachePoint"]],
  ["amazonBedrock", ["cachePoint"]],
]);

function formOf(model: NamedModel): MarkForm | undefined {
  if (pricesOfModel(model) !== "anthropic") return undefined;
  return namesOf(model).provider.startsWith("amazon-bedrock") ? BEDROCK : ANTHROPIC;
}

/** What is sent of a call. */
export interface MarkedPrompt<Message extends object> {
  readonly prompt: readonly Message[];
  readonly tools: readonly Fields[];
}

/** Where a block stands: a tool, a message of one text, or a part of a message. */
type Place = { readonly tool: number } | { readonly message: number; readonly part?: number };

/** Sets the marks of the calls of one conversation. */
export class ModelMarks {
  readonly #plan = new CachePlan();

  /**
   * Adds marks so that each call reads what those before it have written. `settings` are the params of the call. A prompt for a model
   * that takes none stays as it is.
   */
  mark<Message extends object>(
    { prompt, tools }: MarkedPrompt<Message>,
    model: NamedModel,
    settings: Fields,
  ): MarkedPrompt<Message> {
    const form = formOf(model);
    if (!form) return { prompt, tools };
    const messages = prompt as readonly Fields[];
    const places: Place[] = tools.map((_, tool) => ({ tool }));
    const blocks: PromptBlock[] = [];
    const add = (
      marks: readonly (Fields | undefined)[],
      block: Omit<PromptBlock, "isMarked" | "isForAnHour">,
    ): void => {
      blocks.push({ ...block, isMarked: marks.some((mark) => mark !== undefined), isForAnHour: marks.some(isLong) });
    };
    for (const tool of tools) {
      const { mark, bare } = split(tool);
      const takesMark = !form.isOfMessages && (tool["type"] ?? "function") === "function";
      add([mark], { text: JSON.stringify(bare), isAnswer: false, takesMark });
    }
    let head = tools.length;
    for (const [message, { role, content, ...rest }] of messages.entries()) {
      const parts = Array.isArray(content) ? (content as readonly Fields[]) : undefined;
      const whole = split(rest);
      for (const [part, block] of (parts ?? [{ type: "text", text: content }]).entries()) {
        const { mark, bare } = split(block);
        // A mark of a message is one of its last part.
        const isLast = part === (parts?.length ?? 1) - 1;
        places.push(parts ? { message, part } : { message });
        add(isLast ? [mark, whole.mark] : [mark], {
          text: `${message} ${String(role)} ${JSON.stringify(bare)}`,
          isAnswer: role === "assistant",
          takesMark: block["type"] !== "reasoning" && block["text"] !== "",
        });
      }
      if (role === "system" && head === blocks.length - 1) head = blocks.length;
    }
    const automatic = split(settings).mark;
    const { anthropic, bedrock, gateway } = (settings["providerOptions"] ?? {}) as Readonly<
      Record<string, Fields | undefined>
    >;
    const { added } = this.#plan.plan({
      blocks,
      head,
      settings: {
        prompt: JSON.stringify(namesOf(model)),
        messages: JSON.stringify([
          settings["toolChoice"] ?? null,
          anthropic?.["thinking"] ?? bedrock?.["reasoningConfig"] ?? null,
        ]),
      },
      // Vercel's gateway sets one mark of its own.
      automatic:
        automatic !== undefined || gateway?.["caching"] === "auto" ? { isForAnHour: isLong(automatic) } : undefined,
      isWanted: true,
    });
    const marked = { prompt: [...messages], tools: [...tools] };
    for (const { at, lasting } of added) {
      const place = places[at] as Place;
      const own = { ...form, mark: { ...form.mark, ...lasting } };
      if ("tool" in place) marked.tools[place.tool] = withMark(tools[place.tool] as Fields, own);
      else marked.prompt[place.message] = withMarkAt(marked.prompt[place.message] as Fields, place.part, own);
    }
    return { prompt: marked.prompt as unknown as readonly Message[], tools: marked.tools };
  }
}

/** What marks prompts, unless that is switched off. */
export function marksOf(cache: unknown): ModelMarks | undefined {
  return isMarking(cache) ? new ModelMarks() : undefined;
}

function withMarkAt(message: Fields, part: number | undefined, form: MarkForm): Fields {
  if (part === undefined) return withMark(message, form);
  const parts = message["content"] as readonly Fields[];
  if (form.isOfMessages && part === parts.length - 1) return withMark(message, form);
  return { ...message, content: parts.map((one, at) => (at === part ? withMark(one, form) : one)) };
}

function withMark(block: Fields, { provider, field, mark }: MarkForm): Fields {
  return MODEL_MARKS.put(block, { [provider]: { [field]: mark } });
}

/** The marks of the SDK, among the options of a message, a part or a tool. */
export const MODEL_MARKS: MarkSyntax = {
  split(record) {
    if (record["providerOptions"] == null) return undefined;
    const options = Object.entries(record["providerOptions"] as Readonly<Record<string, Fields>>);
    const split = (isMark: boolean): Fields =>
      Object.fromEntries(
        options.flatMap(([provider, all]) => {
          const fields = READ.get(provider) ?? [];
          const some = Object.entries(all ?? {}).filter(([field]) => fields.includes(field) === isMark);
          return some.length > 0 ? [[provider, Object.fromEntries(some)] as const] : [];
        }),
      );
    const mark = split(true);
    if (Object.keys(mark).length === 0) return undefined;
    const { providerOptions: _, ...rest } = record;
    const others = split(false);
    return { mark, bare: Object.keys(others).length > 0 ? { ...rest, providerOptions: others } : rest };
  },
  put(record, mark) {
    const options = (record["providerOptions"] ?? {}) as Readonly<Record<string, Fields>>;
    const merged = Object.entries(mark as Readonly<Record<string, Fields>>).map(
      ([provider, fields]) => [provider, { ...options[provider], ...fields }] as const,
    );
    return { ...record, providerOptions: { ...options, ...Object.fromEntries(merged) } };
  },
  isOfParts: false,
};

/** A record's mark, if it has one, and what it is without. */
function split(record: Fields): { readonly mark?: Fields; readonly bare: Fields } {
  return MODEL_MARKS.split(record) ?? { bare: record };
}

/** Whether marks, by the names of providers and their fields, keep for an hour. */
function isLong(mark: Fields = {}): boolean {
  return Object.values(mark as Readonly<Record<string, Fields>>).some((fields) =>
    Object.values(fields).some(isForAnHour),
  );
}
