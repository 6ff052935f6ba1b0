// How near the items of a log are to a query, by the vectors of an embedding model.
import { TextVectors, embedOf, embeddable } from "../catalog/embedder.js";
import type { Embed } from "../catalog/embedder.js";
import { ContextWeaverError } from "../boundary/errors.js";
import type { ContextPolicy } from "./options.js";
import { redactSecrets } from "./text.js";
import type { Sensitivity, StoredItem } from "../types.js";

const LABELS: readonly Sensitivity[] = ["public", "internal", "confidential", "restricted"];

/** What likeness counts beside words, whose best score is 1: see `docs/measurements.md`. */
const EMBEDDING_WEIGHT = 0.15;

/** Takes the embedder out of the options of a manager. @internal */
export function vectorsOf(own: Record<string, unknown>): ItemVectors | undefined {
  const { embed, embedding_weight: weight = EMBEDDING_WEIGHT } = own;
  const isGiven = own["embedding_weight"] !== undefined;
  delete own["embed"];
  delete own["embedding_weight"];
  if (isGiven && (typeof weight !== "number" || !(weight >= 0 && weight <= 1))) {
    throw new ContextWeaverError("INVALID_INPUT", "expected a number from 0 to 1", { path: "/embedding_weight" });
  }
  if (embed === undefined && isGiven) {
    throw new ContextWeaverError("MISSING_FIELD", "a weight needs an embedder", {
      path: "/embed",
      hint: "embed: what makes the vectors",
    });
  }
  if (embed === undefined) return undefined;
  const { policy, profile } = own as {
    readonly policy?: ContextPolicy;
    readonly profile?: { readonly policy?: ContextPolicy };
  };
  const floor = (policy ?? profile?.policy)?.sensitivity_floor;
  return new ItemVectors(embedOf(embed, "/embed"), weight as number, floor);
}

/** @internal */
export class ItemVectors {
  readonly #vectors: TextVectors;
  readonly #weight: number;
  /** Items from this label on are not shown to the model. */
  readonly #floor: number;
  readonly #byItem = new Map<string, Float32Array>();
  /** Items of the log that were looked at. */
  #seen = 0;

  constructor(embed: Embed, weight: number, floor: Sensitivity = "confidential") {
    this.#vectors = new TextVectors(embed);
    this.#weight = weight;
    // What no label is, the engine refuses.
    this.#floor = Math.max(0, Math.min(LABELS.indexOf(floor), LABELS.indexOf("confidential")));
  }

  /** Where the items begin that were not looked at. */
  get seen(): number {
    return this.#seen;
  }

  /** Makes the vectors that are missing, of items and of a query; returns of how many texts. */
  async add(items: readonly StoredItem[], query: string | undefined): Promise<number> {
    const end = this.#seen + items.length;
    const shown = items.filter(({ sensitivity }) => LABELS.indexOf(sensitivity) < this.#floor);
    const texts = new Map(shown.map(({ id, text }) => [id, prepared(text)]));
    const count = await this.#vectors.add([...texts.values()], query === undefined ? undefined : prepared(query));
    for (const [id, text] of texts) {
      const vector = this.#vectors.of(text);
      if (vector) this.#byItem.set(id, vector);
    }
    this.#seen = Math.max(this.#seen, end);
    return count;
  }

  /** Scores by item id: 0 for what is as near to the query as the log is on the average, the weight for what is nearest. */
  scores(query: string): Record<string, number> | undefined {
    const asked = this.#vectors.ofQuery(prepared(query));
    if (!asked) return undefined;
    const likeness = new Map([...this.#byItem].map(([id, vector]) => [id, dot(vector, asked)]));
    let sum = 0;
    let most = -1;
    for (const one of likeness.values()) {
      sum += one;
      most = Math.max(most, one);
    }
    const mean = sum / likeness.size;
    const scores: Record<string, number> = {};
    for (const [id, one] of likeness) if (one > mean) scores[id] = (this.#weight * (one - mean)) / (most - mean);
    return scores;
  }
}

/** What the model is shown of a text: masked before it is cut, as half a secret is not known for one. */
function prepared(text: string): string {
  return embeddable(redactSecrets(text));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
