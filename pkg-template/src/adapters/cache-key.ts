// The key by which OpenAI sends the calls of a conversation to where its prompt is cached: `prompt_cache_key`.
import { ContextWeaverError } from "contextweaver";
import { TextHash, keyText } from "./text-hash.js";

/** How the key of a conversation is made. */
export type CacheKeyOption = boolean | string;

/** Reads the option. */
export function checkedCacheKey(given: unknown): CacheKeyOption | undefined {
  if (
    given === undefined ||
    typeof given === "boolean" ||
    (typeof given === "string" && given !== "" && given.length <= LONGEST)
  )
    return given;
  throw new ContextWeaverError("INVALID_INPUT", `expected true, false or a text of 1 to ${LONGEST} characters`, {
    path: "/cache_key",
  });
}

/** Characters that the provider takes. */
const LONGEST = 64;

/** Models that OpenAI itself serves: others who speak its language may refuse what they do not know. */
const OPENAI_MODEL = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|codex-|computer-use-)/;

/** Keeps the key of a conversation. */
export class CacheKey {
  readonly #option: CacheKeyOption | undefined;
  #key: string | undefined;

  constructor(option: CacheKeyOption | undefined) {
    this.#option = option;
    if (typeof option === "string") this.#key = option;
  }

  /**
   * The key for a call, or none where none is wanted: without the option for models that OpenAI serves. The first call makes it of
   * what the conversation begins with, so that one that is taken up in another process has the same.
   */
  of(isOpenAi: boolean, begins: () => readonly unknown[]): string | undefined {
    if (!(this.#option ?? isOpenAi)) return undefined;
    return (this.#key ??= `contextweaver-${new TextHash().add(keyText(begins()))}`);
  }
}

/** Whether a model is one that OpenAI serves, by its name. */
export function isOpenAiModel(model: string): boolean {
  return OPENAI_MODEL.test(model);
}

/** What a conversation begins with: all up to what the user said first. */
export function beginning(messages: readonly unknown[]): readonly unknown[] {
  const first = messages.findIndex((message) => (message as { readonly role?: unknown }).role === "user");
  return messages.slice(0, first + 1);
}
