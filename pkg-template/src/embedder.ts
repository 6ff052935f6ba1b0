// What makes vectors of texts, as a function or as a framework has it.
import { ContextWeaverError } from "./errors.js";

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

/** Texts that are embedded at a time: the most that Workers AI takes. */
const BATCH = 100;

/** Reads what a caller gave as one. @internal */
export function embedOf(given: unknown, path: string): Embed {
  if (typeof given === "function") return given as Embed;
  const model = (typeof given === "object" && given !== null ? given : {}) as Exclude<Embedder, Embed>;
  if ("doEmbed" in model && typeof model.doEmbed === "function") return async (texts) => (await model.doEmbed({ values: [...texts] })).embeddings;
  if ("embedDocuments" in model && typeof model.embedDocuments === "function") return (texts) => model.embedDocuments([...texts]);
  if ("ai" in model && typeof model.ai?.run === "function" && typeof model.model === "string") {
    return async (texts) => ((await model.ai.run(model.model, { text: [...texts] })) as { readonly data?: readonly Vector[] }).data ?? [];
  }
  const hint = "a function, an embedding model of the AI SDK or of LangChain.js, or { ai, model } for Workers AI";
  throw new ContextWeaverError("INVALID_INPUT", "expected what makes vectors of texts", { path, hint });
}

/**
 * Makes the vectors, a batch after the other, each of length 1: only where they point to counts. `dimensions` is how many numbers those
 * before had.
 * @internal
 */
export async function unitVectors(embed: Embed, texts: readonly string[], dimensions?: number): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += BATCH) {
    const batch = texts.slice(at, at + BATCH);
    let made: readonly Vector[];
    try {
      made = await embed(batch);
    } catch (cause) {
      throw new ContextWeaverError("CALLBACK_FAILED", "embed threw", { cause });
    }
    if (!Array.isArray(made) || made.length !== batch.length) throw unusable("one vector for each text");
    for (const vector of made as readonly Vector[]) vectors.push(unit(vector, dimensions ?? vectors[0]?.length));
  }
  return vectors;
}

function unit(vector: Vector, length: number | undefined): Float32Array {
  const count = (vector as Vector | undefined)?.length;
  if (typeof vector !== "object" || !count) throw unusable("vectors of numbers");
  if (length !== undefined && count !== length) throw unusable("vectors of one length");
  const numbers = Float32Array.from(vector);
  if (!numbers.every(Number.isFinite)) throw unusable("finite numbers");
  const size = Math.hypot(...numbers);
  return size === 0 ? numbers : numbers.map((number) => number / size);
}

function unusable(wanted: string): ContextWeaverError {
  return new ContextWeaverError("CALLBACK_FAILED", `embed must return ${wanted}`, { path: "/embed" });
}
