// Marks in chat completions for models of Anthropic, as OpenRouter, LiteLLM and others take them and hand them on: without any, that
// provider caches nothing. Instructions and what the user says bear them at their parts, results as a whole.
import { CachePlan, HOUR, isForAnHour } from "./cache-plan.js";
import type { CachePlanState, PromptBlock } from "./cache-plan.js";
import type { Fields } from "./model-prompt.js";
import { CHAT_MARKS, withPart } from "./moving-marks.js";

/** What is sent of a call. */
export interface MarkedChat {
  readonly messages: readonly object[];
  readonly tools: readonly object[];
}

/** Sets the marks of the calls of one conversation. */
export class ChatMarks {
  readonly #plan = new CachePlan();

  /** What the next process goes on with. */
  state(): CachePlanState {
    return this.#plan.state();
  }

  resume(state: CachePlanState): void {
    this.#plan.resume(state);
  }

  /** Adds marks so that each call reads what those before it have written. `params` are those of the call. */
  mark({ messages, tools }: MarkedChat, params: Fields): readonly object[] {
    const list = messages as readonly Fields[];
    const blocks: PromptBlock[] = [];
    /** The message of each block, and which of its parts from the end. */
    const places: ({ readonly message: number; readonly fromEnd: number } | undefined)[] = [];
    // The last block that is to be kept for an hour.
    let long = -1;
    const add = (
      block: Omit<PromptBlock, "isMarked" | "takesMark">,
      marks: readonly unknown[],
      place?: { readonly message: number; readonly fromEnd: number },
    ): void => {
      const given = marks.filter((mark) => mark != null);
      blocks.push({ ...block, isMarked: given.length > 0, takesMark: place !== undefined });
      places.push(place);
      if (given.some(isForAnHour)) long = blocks.length - 1;
    };
    for (const tool of tools as readonly Fields[]) {
      const { cache_control: mark, ...bare } = tool;
      const inner = (bare["function"] as Fields | undefined)?.["cache_control"];
      add({ text: JSON.stringify(bare), isAnswer: false }, [mark, inner]);
    }
    let head = blocks.length;
    for (const [message, { role, content, tool_calls: calls, cache_control: whole, ...rest }] of list.entries()) {
      const isAnswer = role === "assistant";
      const said = (part: unknown): string => `${message} ${String(role)} ${JSON.stringify([part, rest])}`;
      if (role === "tool") {
        const marks = Array.isArray(content) ? content.map((part: Fields) => part["cache_control"]) : [];
        add({ text: said(content), isAnswer }, [whole, ...marks], { message, fromEnd: 0 });
        continue;
      }
      const parts = Array.isArray(content) ? (content as readonly Fields[]) : content ? [textPart(content)] : [];
      for (const [at, { cache_control: mark, ...bare }] of parts.entries()) {
        const fromEnd = parts.length - 1 - at;
        const takesMark = !isAnswer && bare["text"] !== "" && bare["type"] !== "input_audio";
        const marks = fromEnd === 0 ? [mark, whole] : [mark];
        add({ text: said(bare), isAnswer }, marks, takesMark ? { message, fromEnd } : undefined);
      }
      for (const call of Array.isArray(calls) ? calls : []) add({ text: said(call), isAnswer }, []);
      if ((role === "system" || role === "developer") && head === blocks.length - parts.length) head = blocks.length;
    }
    const { model, tool_choice: choice = null, reasoning = null, cache_control: automatic } = params;
    const { added } = this.#plan.plan({
      blocks,
      head,
      settings: { prompt: String(model), messages: JSON.stringify([choice, reasoning]) },
      // OpenRouter marks the end by itself where the call bears a mark.
      isAutomatic: automatic != null,
      isWanted: true,
    });
    const sent = [...list];
    for (const at of added) {
      const place = places[at];
      if (place === undefined) continue;
      const ttl = at < long || isForAnHour(automatic) ? { ttl: HOUR } : {};
      const mark = { cache_control: { type: "ephemeral", ...ttl } };
      const message = sent[place.message] as Fields;
      sent[place.message] =
        message["role"] === "tool" ? CHAT_MARKS.put(message, mark) : withPart(message, place.fromEnd, mark, CHAT_MARKS);
    }
    return sent;
  }
}

function textPart(text: unknown): Fields {
  return { type: "text", text };
}
