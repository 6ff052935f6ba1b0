// Catalogs of any size with the proportions of real ones: services of some thirty tools, descriptions of one or two
// sentences, three to six arguments with descriptions.
import { random } from "./synthetic.mjs";

const VERBS = (
  "create update delete list search export import archive restore assign approve reject schedule cancel share lock " +
  "unlock publish validate summarize compare merge duplicate monitor notify"
).split(" ");
const NOUNS = (
  "invoice order ticket customer contact deal campaign segment report dashboard metric alert log trace deployment " +
  "cluster volume snapshot secret certificate policy role user team project task milestone document page comment " +
  "template folder image video transcript message channel thread mailbox calendar event room booking shipment parcel " +
  "warehouse product price discount coupon payment refund subscription plan contract lead survey form article"
).split(" ");
const QUALITIES = "overdue pending archived shared recurring draft internal external regional monthly".split(" ");
const ARGUMENTS = [
  ["limit", "integer", "Maximum number of entries to return"],
  ["cursor", "string", "Where the previous page ended"],
  ["filter", "string", "Expression that entries must satisfy"],
  ["dry_run", "boolean", "Only say what would happen"],
  ["owner_email", "string", "Address of the person responsible"],
  ["due_date", "string", "Day in ISO 8601 by which it must be done"],
  ["reason", "string", "Why, for the audit trail"],
  ["tags", "array", "Labels to attach"],
  ["currency", "string", "ISO 4217 code of the amount"],
  ["region", "string", "Where the data lives"],
];

const SYLLABLES = "bar cel dor fen gal hux jin kor lum mar nev ost pel qua ril sol tam ulm vex wol".split(" ");

function serviceName(at) {
  const syllable = (part) => SYLLABLES[Math.floor(at / SYLLABLES.length ** part) % SYLLABLES.length];
  return syllable(0) + syllable(1) + syllable(2);
}

const TOOLS_PER_SERVICE = 30;

/** The first `size` tools; a smaller catalog is the beginning of a larger one. */
export function catalog(size, seed = 4) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const items = [];
  const names = new Set();
  for (let at = 0; at < size; at += 1) {
    const service = serviceName(Math.floor(at / TOOLS_PER_SERVICE));
    let name;
    let words;
    do {
      words = [pick(VERBS), pick(QUALITIES), pick(NOUNS)];
      name = words.join("_");
    } while (names.has(`${service}.${name}`));
    names.add(`${service}.${name}`);
    const other = pick(NOUNS);
    const properties = { [`${words[2]}_id`]: { type: "string", description: `Identifier of the ${words[2]}` } };
    for (let left = 2 + Math.floor(next() * 4); left > 0; left -= 1) {
      const [argument, type, description] = pick(ARGUMENTS);
      properties[argument] = { type, description };
    }
    const subject = `${words[1]} ${words[2]}`;
    items.push({
      id: `${service}.${name}`,
      kind: "tool",
      name,
      namespace: service,
      description:
        `${words[0][0].toUpperCase()}${words[0].slice(1)} a ${subject} in ${service}. ` +
        `Use it when the ${other} of the ${subject} changed, or when its ${pick(NOUNS)} has to be checked.`,
      tags: [service, words[2]],
      args_schema: { type: "object", properties, required: [`${words[2]}_id`] },
    });
  }
  return items;
}

/** What people ask: a verb or another word for it, a thing, sometimes a service. */
export function routingQueries(count, seed = 5) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const others = { create: "make", delete: "remove", search: "find", notify: "tell", duplicate: "copy", list: "show" };
  return Array.from({ length: count }, () => {
    const verb = pick(VERBS);
    const place = next() < 0.3 ? ` in ${serviceName(Math.floor(next() * 3))}` : "";
    return `please ${others[verb] ?? verb} the ${pick(QUALITIES)} ${pick(NOUNS)} for the ${pick(NOUNS)} team${place}`;
  });
}
