// Marks of Anthropic's cache in prompts of the AI SDK: `cacheControl` among the options of a part.
import { CachePlan } from "./cache-plan.js";
import type { PromptBlock } from "./cache-plan.js";
import type { Fields } from "./model-prompt.js";

/** What is sent of a call. */
export interface MarkedPrompt<Message extends object> {
  readonly prompt: readonly Message[];
  readonly tools: readonly Fields[];
}

const MARK = { type: "ephemeral" };

/** Whether a model of the SDK is of a provider that takes these marks. */
export function takesMarks(provider: unknown): boolean {
  return typeof provider === "string" && provider.split(".").includes("anthropic");
}

/** Where a block stands: a tool, a message of one text, or a part of a message. */
type Place = { readonly tool: number } | { readonly message: number; readonly part?: number };

/** Sets the marks of the calls of one conversation. */
export class ModelMarks {
  readonly #plan = new CachePlan();

  /** Adds marks so that each call reads what those before it have written. `settings` are the params of the call. */
  mark<Message extends object>({ prompt, tools }: MarkedPrompt<Message>, settings: Fields): MarkedPrompt<Message> {
    const messages = prompt as readonly Fields[];
    const places: Place[] = tools.map((_, tool) => ({ tool }));
    const blocks = tools.map(
      (tool): PromptBlock => ({
        text: textOf(tool),
        isAnswer: false,
        takesMark: (tool["type"] ?? "function") === "function",
        isMarked: isMarked(tool),
      }),
    );
    let head = tools.length;
    for (const [message, { role, content, ...rest }] of messages.entries()) {
      const parts = Array.isArray(content) ? (content as readonly Fields[]) : undefined;
      for (const [part, block] of (parts ?? [{ type: "text", text: content }]).entries()) {
        // A mark of a message is one of its last part.
        const isLast = part === (parts?.length ?? 1) - 1;
        places.push(parts ? { message, part } : { message });
        blocks.push({
          text: `${message} ${String(role)} ${textOf(block)}`,
          isAnswer: role === "assistant",
          takesMark: block["type"] !== "reasoning" && block["text"] !== "",
          isMarked: isMarked(block) || (isLast && isMarked(rest)),
        });
      }
      if (role === "system" && head === blocks.length - 1) head = blocks.length;
    }
    const of = (names: readonly string[]): string => JSON.stringify(names.map((name) => settings[name] ?? null));
    const { anthropic } = (settings["providerOptions"] ?? {}) as Fields;
    const { added } = this.#plan.plan({
      blocks,
      head,
      settings: {
        prompt: of(["model"]),
        messages: JSON.stringify([of(["toolChoice"]), (anthropic as Fields | undefined)?.["thinking"] ?? null]),
      },
      isAutomatic: isMarked(settings),
      isWanted: true,
    });
    const marked = { prompt: [...messages], tools: [...tools] };
    for (const at of added) {
      const place = places[at] as Place;
      if ("tool" in place) marked.tools[place.tool] = withMark(tools[place.tool] as Fields);
      else marked.prompt[place.message] = withMarkAt(marked.prompt[place.message] as Fields, place.part);
    }
    return { prompt: marked.prompt as unknown as readonly Message[], tools: marked.tools };
  }
}

function withMarkAt(message: Fields, part: number | undefined): Fields {
  if (part === undefined) return withMark(message);
  return {
    ...message,
    content: (message["content"] as readonly Fields[]).map((one, at) => (at === part ? withMark(one) : one)),
  };
}

function withMark(block: Fields): Fields {
  const { anthropic, ...options } = (block["providerOptions"] ?? {}) as Fields;
  return {
    ...block,
    providerOptions: { ...options, anthropic: { ...(anthropic as Fields | undefined), cacheControl: MARK } },
  };
}

function isMarked({ providerOptions }: Fields): boolean {
  const { anthropic } = (providerOptions ?? {}) as Fields;
  const { cacheControl, cache_control: other = cacheControl } = (anthropic ?? {}) as Fields;
  return other != null;
}

/** A block byte for byte, without its mark. */
function textOf(block: Fields): string {
  if (!isMarked(block)) return JSON.stringify(block);
  const { providerOptions, ...rest } = block;
  const { anthropic, ...options } = providerOptions as Fields;
  const { cacheControl: _, cache_control: __, ...others } = anthropic as Fields;
  const left = { ...options, ...(Object.keys(others).length > 0 && { anthropic: others }) };
  return JSON.stringify(Object.keys(left).length > 0 ? { ...rest, providerOptions: left } : rest);
}
