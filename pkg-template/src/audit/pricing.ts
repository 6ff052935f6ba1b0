// Prices calls: by the engine's price models for tokens that repeat, and by prices of models in money.
import { pricesOf } from "../adapters/agent-loop.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { priceModels } from "../manager/text.js";
import type { ProviderPrices } from "../manager/text.js";
import type { RecordedUsage } from "./events.js";
import { fieldsOf } from "../boundary/fields.js";
import { listOf } from "./json-fields.js";
import { MODEL_PRICES } from "./model-prices.js";
import type { ModelPrice } from "./model-prices.js";

type CachePrices = ProviderPrices["prices"];

/** Anthropic's price of a token that it keeps for an hour, and that hour in seconds. */
const HOUR = { written: 2, kept_seconds: 3600 };

/** The prices of one model, in prices of an input token that is neither read from a cache nor written to one. */
export class Pricing {
  /** As an adapter takes it. */
  readonly cache: CachePrices;
  /** In money; undefined of a model whose price is not known. */
  readonly model: ModelPrice | undefined;
  /** A token that is written for five minutes, whatever `cache` says. */
  readonly brief: number;

  constructor(cache: CachePrices, model: ModelPrice | undefined, brief?: number) {
    this.cache = cache;
    this.model = model;
    this.brief = brief ?? cache.written;
  }

  /** The prices of a model with its provider's cache. */
  static of(cache: CachePrices, model: ModelPrice | undefined): Pricing {
    if (!model) return new Pricing(cache, model);
    const share = (price: number | undefined, otherwise: number): number =>
      price === undefined || model.input === 0 ? otherwise : price / model.input;
    return new Pricing(
      {
        ...cache,
        cached: share(model.cached, cache.cached),
        written: share(model.written, cache.written),
        step_tokens: model.step_tokens ?? cache.step_tokens,
        least_tokens: model.least_tokens ?? cache.least_tokens,
      },
      model,
    );
  }

  /** The same for a cache that is kept for an hour. */
  forAnHour(): Pricing {
    return new Pricing({ ...this.cache, ...HOUR }, this.model, this.brief);
  }

  /** Tokens that are read from the cache, of those that repeat the call before. */
  hit(repeated: number): number {
    const { cached, least_tokens, step_tokens } = this.cache;
    return cached >= 1 || repeated < least_tokens ? 0 : Math.floor(repeated / step_tokens) * step_tokens;
  }

  /** The price of a prompt of which so many tokens are read from the cache. */
  cost(tokens: number, hit: number): number {
    return (tokens - hit) * this.cache.written + hit * this.cache.cached;
  }

  /** The price of a prompt as the provider counted it. */
  costOf({ input, cached = 0, written = 0, written_hour: hour = 0 }: RecordedUsage): number {
    const plain = Math.max(0, input - cached - written);
    return plain + Math.max(0, written - hour) * this.brief + hour * HOUR.written + cached * this.cache.cached;
  }

  /** Dollars of so many input tokens at full price; undefined without a price. */
  money(cost: number, output = 0): number | undefined {
    return this.model && (cost * this.model.input + output * this.model.output) / 1_000_000;
  }
}

/** The prices of all models. */
export class PriceBook {
  readonly #caches = new Map(priceModels().map(({ name, prices }) => [name, prices]));
  readonly #models: readonly ModelPrice[];
  readonly #made = new Map<string, Pricing>();

  /** `given` goes before what is known. */
  constructor(given: readonly ModelPrice[] = []) {
    this.#models = [...given, ...MODEL_PRICES];
  }

  /** The prices of a model; of one that is not known, those of the provider that its name tells, or of OpenAI. */
  of(model: string | undefined): Pricing {
    const name = model ?? "";
    const made = this.#made.get(name);
    if (made) return made;
    const found = this.#find(name);
    // The name of a price model stands for a model whose price is not known.
    const cache =
      this.#caches.get(found?.cache ?? (this.#caches.has(name) ? name : pricesOf(name)) ?? "openai") ??
      this.#caches.get("openai");
    const pricing = Pricing.of(cache as CachePrices, found);
    this.#made.set(name, pricing);
    return pricing;
  }

  #find(model: string): ModelPrice | undefined {
    const name = nameOf(model);
    const matches = (match: string): boolean => {
      const named = match.includes("/") ? model.toLowerCase() : name;
      return match.endsWith("*") ? named.startsWith(match.slice(0, -1)) : named === match;
    };
    return name === "" ? undefined : this.#models.find(({ match }) => match.some(matches));
  }

  /** Reads what `--prices` names. Errors are at the path of a field. */
  static read(json: unknown): readonly ModelPrice[] {
    const caches = priceModels().map(({ name }) => name);
    const list = Array.isArray(json) ? listOf(json) : listOf(fieldsOf(json)["models"]);
    if (list.length === 0)
      throw new ContextWeaverError("INVALID_INPUT", "expected a list of prices of models", {
        path: "/models",
        hint: '{"models":[{"match":["my-model"],"input":2,"output":8}]}',
      });
    return list.map((one, at) => readPrice(fieldsOf(one), `/models/${at}`, caches));
  }
}

const FIELDS = ["match", "cache", "input", "output", "cached", "written", "source", "as_of"];

function readPrice(fields: Readonly<Record<string, unknown>>, path: string, caches: readonly string[]): ModelPrice {
  const unknown = Object.keys(fields).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined)
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${unknown.slice(0, 40)}\``, {
      path: `${path}/${unknown}`,
      hint: `there are: ${FIELDS.join(", ")}`,
    });
  const match = typeof fields["match"] === "string" ? [fields["match"]] : fields["match"];
  if (!Array.isArray(match) || match.length === 0 || !match.every((name) => typeof name === "string" && name !== "")) {
    throw new ContextWeaverError(
      fields["match"] === undefined ? "MISSING_FIELD" : "INVALID_INPUT",
      "expected the name of a model, or a list of names",
      { path: `${path}/match` },
    );
  }
  const price = (key: string, isNeeded: boolean): number | undefined => {
    const value = fields[key];
    if (value === undefined && !isNeeded) return undefined;
    if (value === undefined)
      throw new ContextWeaverError("MISSING_FIELD", `missing field \`${key}\``, {
        path: `${path}/${key}`,
        hint: "US dollars for a million tokens",
      });
    if (typeof value !== "number" || !(value >= 0 && value <= 100_000))
      throw new ContextWeaverError("OUT_OF_RANGE", "expected US dollars for a million tokens, from 0 to 100,000", {
        path: `${path}/${key}`,
      });
    return value;
  };
  const { cache = pricesOf(String(match[0])) ?? "openai", source = "--prices", as_of = "" } = fields;
  if (typeof cache !== "string" || !caches.includes(cache))
    throw new ContextWeaverError("INVALID_INPUT", "unknown price model", {
      path: `${path}/cache`,
      hint: `one of: ${caches.join(" ")}`,
    });
  const [input, output, cached, written] = [
    price("input", true) ?? 0,
    price("output", false) ?? 0,
    price("cached", false),
    price("written", false),
  ];
  return {
    match: match.map(matchOf),
    cache,
    input,
    output,
    ...(cached !== undefined && { cached }),
    ...(written !== undefined && { written }),
    source: String(source),
    as_of: String(as_of),
  };
}

/** What the names of a model are compared with: `openrouter/*` stands for all models of that provider, not for all models. */
function matchOf(name: string): string {
  const match = nameOf(name);
  return match === "*" ? name.toLowerCase() : match;
}

/** A name without the provider before it, and the date or the variant behind it. */
function nameOf(model: string): string {
  const name = model.toLowerCase().split("/").at(-1) ?? "";
  return name
    .replace(/^([a-z]+\.)*anthropic\./, "")
    .replace(/\[\w+\]$/, "")
    .replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2})(-v\d+(:\d+)?)?$/, "")
    .replace(/-latest$/, "");
}
