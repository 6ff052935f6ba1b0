// Marks in chat completions for models of Anthropic, as OpenRouter, LiteLLM and others take them and hand them on: without any, that
// provider caches nothing. Instructions and what the user says bear them at their parts, results as a whole.
import { CachePlan, isForAnHour, markAtEnd } from "./cache-plan.js";
import type { CachePlanState, PromptBlock } from "./cache-plan.js";
import type { Fields } from "./model-prompt.js";
import { CHAT_MARKS, withPart } from "./moving-marks.js";

/** What is sent of a call. */
export interface MarkedChat {
  readonly messages: readonly object[];
  readonly tools: readonly object[];
}

/** Where a block can be marked: its message, and which of the parts from the end. */
interface Place {
  readonly message: number;
  readonly fromEnd: number;
}

/** A block, as the provider counts them: a tool, a part of a message, a call or a result. Without a place it takes no mark. */
interface Block {
  readonly text: string;
  readonly isAnswer: boolean;
  readonly isAbove: boolean;
  readonly marks: readonly unknown[];
  readonly place?: Place;
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
    const blocks = [...toolBlocks(tools as readonly Fields[]), ...list.flatMap(messageBlocks)];
    const firstSaid = blocks.findIndex(({ isAbove }) => !isAbove);
    const { model, tool_choice: choice = null, reasoning = null, cache_control: automatic } = params;
    const { added } = this.#plan.plan({
      blocks: blocks.map(planned),
      head: firstSaid === -1 ? blocks.length : firstSaid,
      settings: { prompt: String(model), messages: JSON.stringify([choice, reasoning]) },
      // OpenRouter marks the end by itself where the call bears a mark.
      automatic: markAtEnd(automatic),
      isWanted: true,
    });
    const sent = [...list];
    for (const { at, lasting } of added) {
      const { message, fromEnd } = blocks[at]?.place as Place;
      const mark = { cache_control: { type: "ephemeral", ...lasting } };
      const bare = sent[message] as Fields;
      sent[message] = isResult(bare) ? CHAT_MARKS.put(bare, mark) : withPart(bare, fromEnd, mark, CHAT_MARKS);
    }
    return sent;
  }
}

function planned({ text, isAnswer, marks, place }: Block): PromptBlock {
  const given = marks.filter((mark) => mark != null);
  const isMarked = given.length > 0;
  return { text, isAnswer, takesMark: place !== undefined, isMarked, isForAnHour: given.some(isForAnHour) };
}

function toolBlocks(tools: readonly Fields[]): readonly Block[] {
  return tools.map(({ cache_control: mark, ...bare }) => {
    const { function: definition } = bare;
    const inner = (definition as Fields | undefined)?.["cache_control"];
    return { text: JSON.stringify(bare), isAnswer: false, isAbove: true, marks: [mark, inner] };
  });
}

function messageBlocks(given: Fields, message: number): readonly Block[] {
  const { role, content, tool_calls: calls, cache_control: whole, ...rest } = given;
  const isAnswer = role === "assistant";
  const isAbove = role === "system" || role === "developer";
  const said = (part: unknown): string => `${message} ${String(role)} ${JSON.stringify([part, rest])}`;
  const list = Array.isArray(content) ? content : content ? [{ type: "text", text: content }] : [];
  const parts = (list as readonly Fields[]).map(({ cache_control: mark, ...bare }) => ({ mark, bare }));
  if (isResult(given)) {
    const marks = [whole, ...parts.map(({ mark }) => mark)];
    return [{ text: said(parts.map(({ bare }) => bare)), isAnswer, isAbove, marks, place: { message, fromEnd: 0 } }];
  }
  const blocks = parts.map(({ mark, bare }, at): Block => {
    const fromEnd = parts.length - 1 - at;
    const takesMark = !isAnswer && bare["text"] !== "" && bare["type"] !== "input_audio";
    // A mark of a message is one of its last part.
    const marks = fromEnd === 0 ? [mark, whole] : [mark];
    return { text: said(bare), isAnswer, isAbove, marks, ...(takesMark && { place: { message, fromEnd } }) };
  });
  const called = (Array.isArray(calls) ? calls : []).map((call) => ({
    text: said(call),
    isAnswer,
    isAbove,
    marks: [],
  }));
  return [...blocks, ...called];
}

function isResult({ role }: Fields): boolean {
  return role === "tool";
}
