// Other ways to find tools, over the same texts: each takes tools and returns a function from a query to ids, best first. Its
// `judge` returns a short list, and `signal`, which is higher the more there is for it: what a threshold would be set on.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { install } from "../npm.mjs";

/** Ids that are listed at most. */
export const LISTED = 50;
/** Tools of a short list, where a query may have none. */
export const SHORT = 5;

const judged = (hits) => ({ ids: hits.slice(0, SHORT).map(({ id }) => id), signal: hits[0]?.score });

// What the peers are given: the same fields, identifiers split, as their users would have to.
const split = (text) => text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_\-./:]+/g, " ");

function schemaText(schema, depth = 0) {
  const words = [];
  if (!schema || typeof schema !== "object" || depth > 4) return words;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    words.push(split(name));
    if (typeof property?.description === "string") words.push(property.description);
    words.push(...schemaText(property, depth + 1));
  }
  if (schema.items) words.push(...schemaText(schema.items, depth + 1));
  return words;
}

const document = (item) => ({
  id: item.id,
  name: split(`${item.name} ${item.title ?? ""}`),
  namespace: split(item.namespace ?? ""),
  tags: (item.tags ?? []).join(" "),
  description: item.description,
  schema: schemaText(item.args_schema).join(" "),
});

const FIELDS = ["name", "namespace", "tags", "description", "schema"];
const BOOSTS = { name: 2.5, schema: 0.5 };

function minisearch({ default: MiniSearch }, options) {
  return (items) => {
    const index = new MiniSearch({ fields: FIELDS, searchOptions: { boost: BOOSTS, ...options } });
    index.addAll(items.map(document));
    const find = (query) =>
      index
        .search(query)
        .slice(0, LISTED)
        .map((hit) => hit.id);
    return Object.assign(find, { judge: (query) => judged(index.search(query)) });
  };
}

function orama({ create, insertMultiple, search }) {
  return (items) => {
    const index = create({ schema: Object.fromEntries(["id", ...FIELDS].map((field) => [field, "string"])) });
    insertMultiple(index, items.map(document), 1000);
    const query = (term) => search(index, { term, properties: FIELDS, boost: BOOSTS, limit: LISTED, threshold: 1 });
    const find = (term) => query(term).hits.map((hit) => hit.document.id);
    return Object.assign(find, { judge: (term) => judged(query(term).hits) });
  };
}

const words = (text) =>
  split(text)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];
const best = (items, scores) =>
  [...scores.keys()]
    .filter((at) => scores[at] > 0)
    .sort((a, b) => scores[b] - scores[a] || a - b)
    .slice(0, LISTED)
    .map((at) => items[at].id);
const K1 = 1.2;
const B = 0.75;

/** Okapi BM25 over all texts of a tool as one, words as they are: what a paper calls BM25. */
export function bm25(items) {
  const documents = items.map((item) =>
    words(
      Object.entries(document(item))
        .flatMap(([field, text]) => (field === "id" ? [] : [text]))
        .join(" "),
    ),
  );
  const postings = new Map();
  for (const [at, list] of documents.entries()) {
    for (const word of list) {
      const found = postings.get(word) ?? new Map();
      postings.set(word, found.set(at, (found.get(at) ?? 0) + 1));
    }
  }
  const mean = documents.reduce((sum, list) => sum + list.length, 0) / documents.length;
  return (query) => {
    const scores = documents.map(() => 0);
    for (const word of new Set(words(query))) {
      const found = postings.get(word) ?? new Map();
      const rarity = Math.log(1 + (documents.length - found.size + 0.5) / (found.size + 0.5));
      for (const [at, count] of found) scores[at] += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * documents[at].length) / mean));
    }
    return best(items, scores);
  };
}

/** Words that a model would not put into a pattern. */
const SMALL = new Set(
  words(`a about all also an and any are as at be by can could do does find for from get give have help how i if in into is
 it like list look make me my need of on or please put save search set show so some tell that the then there this to up us use
 using want was we what when where which who will with would you your`),
);

/**
 * A search by regular expressions, as providers offer it: a pattern over names, descriptions and arguments, whatever the case. The
 * pattern has every word of the query but small ones, in a form that finds its inflections; more different matches come first,
 * and names before the rest.
 */
export function regex(items) {
  const texts = items.map((item) => {
    const { name, namespace, description, schema } = document(item);
    return [`${name} ${namespace}`, `${description} ${schema}`].map((text) => text.toLowerCase());
  });
  return (query) => {
    const stems = [...new Set(words(query))].filter((word) => word.length > 2 && !SMALL.has(word)).map((word) => word.replace(/(?:ing|ed|es|s|e)$/, ""));
    if (stems.length === 0) return [];
    const pattern = new RegExp(stems.map((stem) => `\\b${stem}`).join("|"), "g");
    const distinct = (text) => new Set(text.match(pattern)).size;
    return best(
      items,
      texts.map(([name, rest]) => distinct(`${name} ${rest}`) + distinct(name) / 100),
    );
  };
}

const PEERS = ["minisearch@7.2.0", "@orama/orama@3.1.18"];

/** The libraries that can be installed: `[name, make]`. */
export async function libraries(work, say) {
  const missing = PEERS.map((peer) => [peer, install(work, peer)]).filter(([, why]) => why);
  for (const [peer, why] of missing) say(`SKIPPED: ${peer} cannot be installed: ${why}`);
  const load = async (name) => {
    const require = createRequire(join(resolve(work), "package.json"));
    return import(pathToFileURL(require.resolve(name)));
  };
  const has = (name) => !missing.some(([peer]) => peer.startsWith(`${name}@`));
  const found = [];
  if (has("minisearch")) {
    const module = await load("minisearch");
    found.push(["minisearch", minisearch(module.default?.default ? module.default : module, {})]);
    found.push(["minisearch fuzzy prefix", minisearch(module, { fuzzy: 0.2, prefix: true })]);
  }
  if (has("@orama/orama")) found.push(["orama", orama(await load("@orama/orama"))]);
  return found;
}
