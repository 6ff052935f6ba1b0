#!/usr/bin/env node
// Writes OUT/standing.json, the same bytes each time, after checking every label. `node tests/quality/rules/make.mjs OUT [--counts]`
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLASSES, conversation, fold, LANGUAGES, tokens } from "./join.mjs";
import { domains, remarks } from "./noise.mjs";
import { conversations } from "./texts.mjs";

const out = process.argv[2];
if (!out || out.startsWith("-")) {
  console.error("usage: node make.mjs OUT [--counts]");
  process.exit(2);
}

/** Domains whose users speak another language than English. */
const NATIVE = { travel: "es", theatre: "fr", tax: "de" };
const COMMON = new Set(
  "about after all also always and any anything are before but can could does done don for from had has have her him his how into its more much never new not now off once one only other our out over own say she should some than that the their them then there they this two very was were what when where which who why will with would you your aber alle auf auch bei das dem den der des die ein eine einen für hat ich ist kein mit nicht noch nur oder und uns von vor was wie wir aux avec ces dans des elle est les leur mais nous pas pour que qui sur une con del las los más muy para por que sin una como dos nas nem para por uma che con dei gli non per sono".split(
    " ",
  ),
);
/** The words of a text that carry meaning, without common endings; pairs of characters where nothing parts the words. */
function meaning(text) {
  const latin = (fold(text).match(/[\p{Script=Latin}\p{Script=Cyrillic}\d]{3,}/gu) ?? [])
    .filter((w) => !COMMON.has(w))
    .map((w) => (/^[a-z]{5,}$/.test(w) ? w.replace(/(?:ing|ed|es|s)$/, "") : w));
  const dense = (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2,}/gu) ?? []).flatMap((run) =>
    [...run].slice(1).map((c, i) => [...run][i] + c),
  );
  return new Set([...latin, ...dense]);
}
const shared = (query, words) => [...meaning(query)].filter((w) => meaning(words).has(w));

/** Everything that is wrong with a conversation. */
function faults({ id, tokens: size, items, statements, distractors, probes }) {
  const list = [],
    say = (text) => list.push(`${id}: ${text}`),
    byId = new Map(items.map((item) => [item.id, item]));
  const whole = (text, s) => s.must.every((words) => fold(text).includes(fold(words)));
  if (size < 6000 || size > 20000) say(`${size} tokens`);
  if (statements.length < 4 || statements.length > 8) say(`${statements.length} statements`);
  if (probes.length < 2 || probes.length > 4) say(`${probes.length} probes`);
  if (new Set([...statements, ...distractors].map((s) => s.id)).size !== statements.length + distractors.length) say("a name twice");
  for (const s of statements) {
    for (const words of [...s.must, ...(s.parts ? [...s.parts.gone, ...s.parts.rest] : [])])
      if (!byId.get(s.item).text.includes(words)) say(`${s.id} is not in its item: ${words}`);
    for (const item of items) if (item.kind === "user_turn" && item.id !== s.item && whole(item.text, s)) say(`${s.id} also stands in ${item.id}`);
    const old = s.replaces && statements.find((o) => o.id === s.replaces.id);
    if (s.replaces && !(old && old.at < s.at && old.role === "standing")) say(`${s.id} replaces what was not said before`);
    if (s.replaces && (s.replaces.how === "part") !== Boolean(old?.parts?.gone.length && old.parts.rest.length)) say(`${s.id}: parts of ${s.replaces.id}`);
    if (s.parts && !statements.some((o) => o.replaces?.id === s.id)) say(`${s.id} has parts that nothing replaces`);
    if (statements.filter((o) => o.replaces?.id === s.id).length > 1) say(`${s.id} is replaced twice`);
  }
  for (const d of distractors) {
    const { text } = byId.get(d.item);
    if (!text.includes(d.fragment) || (d.lead && text.indexOf(d.lead) > text.indexOf(d.fragment)) || (d.lead && !text.includes(d.lead)))
      say(`${d.id} is not in its item`);
    if (d.carrier === "quotation" && !d.lead) say(`${d.id} has no lead`);
    for (const item of items)
      if (item.kind === "user_turn" && item.id !== d.item && fold(item.text).includes(fold(d.fragment))) say(`${d.id} also stands in ${item.id}`);
  }
  for (const p of probes) {
    const live = p.standing.flatMap((s) => s.must).join(" ");
    if (p.standing.length === 0) say(`${p.id} has nothing to show`);
    if (!p.related && shared(p.query, live).length) say(`${p.id} shares ${shared(p.query, live)}`);
    for (const s of statements) if (whole(p.query, s)) say(`${p.id} says ${s.id}`);
  }
  return list;
}

const sessions = conversations.map((c) => conversation(c, domains[c.domain], NATIVE[c.domain] === c.lang ? undefined : remarks[c.lang]));
const wrong = sessions.flatMap(faults);
if (new Set(sessions.map((s) => s.id)).size !== sessions.length) wrong.push("an id twice");
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}

const lines = (list) => `[\n${list.map((x) => JSON.stringify(x)).join(",\n")}\n]`;
const body = sessions.map(
  (s) =>
    `{"id":${JSON.stringify(s.id)},"tokens":${s.tokens},"items":${lines(s.items)},"statements":${lines(s.statements)},"distractors":${lines(s.distractors)},"probes":${lines(s.probes)}}`,
);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "standing.json"), `{"name":"standing","licence":"written for this set","sessions":[\n${body.join(",\n")}\n]}\n`);

const all = (name) => sessions.flatMap((s) => s[name]);
console.log(
  `${sessions.length} conversations, ${all("items").length} items, ${all("statements").length} statements, ${all("distractors").length} sentences of others, ${all("probes").length} probes`,
);
if (process.argv.includes("--counts")) counts();

function counts() {
  const count = (title, list, key, order) => {
    const n = {};
    for (const x of list) n[key(x)] = (n[key(x)] ?? 0) + 1;
    console.log(
      `${title}: ${(order ?? Object.keys(n).sort((a, b) => n[b] - n[a]))
        .filter((k) => n[k])
        .map((k) => `${k} ${n[k]}`)
        .join(", ")}`,
    );
  };
  const sizes = sessions.map((s) => s.tokens).sort((a, b) => a - b),
    statements = all("statements");
  const placed = sessions.flatMap((s) => s.statements.map((x) => ({ ...x, share: x.at / s.items.length, chars: s.items[x.at].text.length })));
  console.log(`tokens: ${sizes[0]} / ${sizes[sizes.length >> 1]} / ${sizes.at(-1)}, sum ${sizes.reduce((a, b) => a + b)}`);
  count("class", statements, (s) => s.class, CLASSES);
  count("language", statements, (s) => s.lang, LANGUAGES);
  count("wording", statements, (s) => (s.implicit ? "implicit" : "explicit"));
  count("role", statements, (s) => s.role);
  count("replaces", statements, (s) => s.replaces?.how ?? "nothing");
  count("message", statements, (s) => s.style);
  count("place", placed, (s) => (s.share < 1 / 3 ? "early" : s.share < 2 / 3 ? "middle" : "late"));
  count("length of the message", placed, (s) => (s.chars < 120 ? "below 120" : s.chars < 400 ? "120 to 400" : "above 400"));
  count("length of the statement in tokens", statements, (s) => ((n) => (n <= 8 ? "to 8" : n <= 15 ? "9 to 15" : "above 15"))(tokens(s.must.join(" "))));
  count("statements of a conversation", sessions, (s) => s.statements.length);
  count("sentences of others", all("distractors"), (d) => d.carrier);
  count("probes", all("probes"), (p) => (p.related ? "decided by a statement" : "of something else"));
  count("probes, words", all("probes"), (p) => (shared(p.query, p.standing.flatMap((s) => s.must).join(" ")).length ? "shares a word" : "shares none"));
  count("in force at a probe", all("probes"), (p) => p.standing.length);
}
