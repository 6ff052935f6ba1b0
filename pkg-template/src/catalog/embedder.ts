// What makes vectors of texts, as a function or as a framework has it.
import { isPromise } from "../boundary/callbacks.js";
import { ContextWeaverError } from "../boundary/errors.js";

/** Numbers that say what a text is about, as an embedding model returns them. */
export type Vector = readonly number[] | Float32Array | Float64Array;

/** Makes vectors of texts, all of one length, now or later. It gets at most 100 texts at a time. */
export type Embed = (texts: readonly string[]) => readonly Vector[] | PromiseLike<readonly Vector[]>;

/**
 * A function, or an embedding model as it is: of the AI SDK, of LangChain.js, or of Workers AI with its name. A pipeline of
 * transformers.js is told how to pool: `async (texts) => (await extractor(texts, { pooling: "mean", normalize: true })).tolist()`.
 */
export type Embedder =
  | Embed
  | { doEmbed(options: { values: string[] }): PromiseLike<{ readonly embeddings: readonly Vector[] }> }
  | { embedDocuments(texts: string[]): Promise<readonly Vector[]> }
  | { readonly ai: { run(model: string, input: { text: string[] }): Promise<unknown> }; readonly model: string };

/** Texts that are embedded at a time: the most that Workers AI takes. @internal */
export const MAX_BATCH = 100;

/** Reads what a caller gave as one. @internal */
export function embedOf(given: unknown, path: string): Embed {
  if (typeof given === "function") return given as Embed;
  const model = (typeof given === "object" && given !== null ? given : {}) as Exclude<Embedder, Embed>;
  if ("doEmbed" in model && typeof model.doEmbed === "function")
    return async (texts) => (await model.doEmbed({ values: [...texts] })).embeddings;
  if ("embedDocuments" in model && typeof model.embedDocuments === "function")
    return (texts) => model.embedDocuments([...texts]);
  if ("ai" in model && typeof model.ai?.run === "function" && typeof model.model === "string") {
    return async (texts) =>
      ((await model.ai.run(model.model, { text: [...texts] })) as { readonly data?: readonly Vector[] }).data ?? [];
  }
  const hint = "a function, an embedding model of the AI SDK or of LangChain.js, or { ai, model } for Workers AI";
  throw new ContextWeaverError("INVALID_INPUT", "expected what makes vectors of texts", { path, hint });
}

/** Characters of a text that are embedded: small models read less. */
const MAX_CHARS = 8_192;
/** Queries whose vectors are kept: one turn asks few. */
const MAX_QUERIES = 16;

/** What of a text is embedded. @internal */
export function embeddable(text: string): string {
  return text
    .slice(0, MAX_CHARS)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trim();
}

/** Vectors of texts that are {@link embeddable}, each made once, of length 1: only where they point to counts. @internal */
export class TextVectors {
  readonly #embed: Embed;
  readonly #byText = new Map<string, Float32Array>();
  /** The newest last. */
  readonly #queries = new Map<string, Float32Array>();

  constructor(embed: Embed) {
    this.#embed = embed;
  }

  /** Makes the vectors that are missing, of texts and of a query; returns of how many. Nothing is as long as there is nothing in it. */
  async add(texts: readonly string[], query = ""): Promise<number> {
    const missing = new Set(texts.filter((text) => text !== "" && !this.#byText.has(text)));
    if (query !== "" && !this.ofQuery(query)) missing.add(query);
    const list = [...missing];
    const vectors = await this.#unitVectors(list);
    const made = new Map(list.map((text, at) => [text, vectors[at] as Float32Array]));
    for (const text of texts) {
      const vector = made.get(text);
      if (vector) this.#byText.set(text, vector);
    }
    const asked = made.get(query) ?? this.ofQuery(query);
    if (asked) {
      this.#queries.delete(query);
      this.#queries.set(query, asked);
    }
    for (const text of [...this.#queries.keys()].slice(0, -MAX_QUERIES)) this.#queries.delete(text);
    return list.length;
  }

  /** The vector of a text that was added. */
  of(text: string): Float32Array | undefined {
    return this.#byText.get(text);
  }

  /** The vector of a query that was added, or is one of the texts. */
  ofQuery(query: string): Float32Array | undefined {
    return this.#queries.get(query) ?? this.#byText.get(query);
  }

  /** Forgets the texts that are not among these. */
  keep(texts: ReadonlySet<string>): void {
    for (const text of this.#byText.keys()) if (!texts.has(text)) this.#byText.delete(text);
  }

  /** Makes vectors, a batch after the other. */
  async #unitVectors(texts: readonly string[]): Promise<Float32Array[]> {
    const [known] = this.#byText.values();
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += MAX_BATCH) {
      const batch = texts.slice(at, at + MAX_BATCH);
      let made: unknown;
      try {
        made = await this.#embed(batch);
      } catch (cause) {
        throw new ContextWeaverError("CALLBACK_FAILED", "embed threw", { path: "/embed", cause });
      }
      vectors.push(...units(made, batch.length, (known ?? vectors[0])?.length));
    }
    return vectors;
  }
}

function units(made: unknown, count: number, length: number | undefined): Float32Array[] {
  try {
    if (!Array.isArray(made) || made.length !== count) throw unusable("one vector for each text");
    const given = [...(made as readonly Vector[])];
    for (const vector of given) isPromise(vector, () => undefined);
    const vectors: Float32Array[] = [];
    for (const vector of given) vectors.push(unit(vector, length ?? vectors[0]?.length));
    return vectors;
  } catch (error) {
    if (ContextWeaverError.is(error)) throw error;
    // A proxy may throw when it is read.
    throw new ContextWeaverError("CALLBACK_FAILED", "embed returned what cannot be read", {
      path: "/embed",
      cause: error,
    });
  }
}

function unit(vector: Vector, length: number | undefined): Float32Array {
  const count = (vector as Vector | undefined)?.length;
  if (typeof vector !== "object" || !count) throw unusable("vectors of numbers");
  if (length !== undefined && count !== length) throw unusable("vectors of one length");
  const numbers = Float32Array.from(vector, (number: unknown) => (typeof number === "number" ? number : Number.NaN));
  if (!numbers.every(Number.isFinite)) throw unusable("finite numbers");
  const size = Math.hypot(...numbers);
  return size === 0 ? numbers : numbers.map((number) => number / size);
}

function unusable(wanted: string): ContextWeaverError {
  return new ContextWeaverError("CALLBACK_FAILED", `embed must return ${wanted}`, { path: "/embed" });
}
