// Makes a conversation of our own from a domain of noise.mjs, and puts the labelled texts of texts.mjs into it.

export const tokens = (text) => Math.ceil([...text].length / 4);
export const fold = (text) => text.normalize("NFC").toLowerCase().replace(/\s+/g, " ");
export const CLASSES = ["prohibition", "condition", "format", "identity", "limit", "decision", "approval", "definition"];
export const LANGUAGES = ["en", "de", "es", "fr", "pt", "it", "ja", "zh", "ru", "pl", "tr", "nl"];

/** Numbers that depend on the seed alone, and what is made of them. */
export function generator(seed) {
  let state = 0x9e3779b9;
  for (const c of seed) state = Math.imul(state ^ c.codePointAt(0), 0x85ebca6b) ^ (state >>> 13);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
  };
  const between = (low, high) => low + Math.floor(next() * (high - low + 1));
  const pick = (list) => list[Math.floor(next() * list.length)];
  const many = (low, high, make) => Array.from({ length: between(low, high) }, (_, i) => make(i));
  const two = (n) => String(n).padStart(2, "0");
  return {
    next,
    between,
    pick,
    many,
    chance: (share) => next() < share,
    decimal: (low, high, digits = 2) => (low + next() * (high - low)).toFixed(digits),
    hour: (low = 6, high = 21) => `${two(between(low, high))}:${two(between(0, 11) * 5)}`,
    day: () => `${between(2027, 2029)}-${two(between(1, 12))}-${two(between(1, 28))}`,
    hex: (digits) => many(digits, digits, () => "0123456789abcdef"[between(0, 15)]).join(""),
    /** `#` becomes a digit and `@` a letter. */
    code: (form) => form.replace(/[#@]/g, (c) => (c === "#" ? String(between(0, 9)) : pick([..."ABCDEFGHKLMNPRSTUVWX"]))),
  };
}

/** `{a|b}` becomes one of the two, `$name` a value of the domain, `‹` and `›` are braces that stay. In what is said, a name keeps its value for the episode. */
function teller(random, slots) {
  return (text, known) => {
    const value = (name) => (typeof slots[name] === "function" ? slots[name](random) : random.pick(slots[name]));
    for (let before = ""; before !== text; ) {
      before = text;
      text = text.replace(/\{([^{}]*)\}/, (_, inner) => random.pick(inner.split("|")));
    }
    return text
      .replace(/\$([a-z]+)/g, (whole, name) => (!slots[name] ? whole : known && name !== "n" ? (known[name] ??= value(name)) : value(name)))
      .replace(/‹/g, "{")
      .replace(/›/g, "}")
      .replace(/(\S) {2,}/g, "$1 ");
  };
}

/** Episodes of the domain until the conversation is as long as it shall be; no episode comes twice in a row. */
function converse(id, domain, size, remarks) {
  const random = generator(`${id}/noise`),
    tell = teller(random, domain.slots),
    items = [];
  let topic = {};
  const speak = (text) => tell(text, topic).trim();
  const add = (item) => items.push(item) && item;
  const d = {
    ...random,
    tell,
    /** A turn of the user, with something pasted below it. */
    U: (text, paste) => {
      const talk = (remarks && random.chance(0.45) ? `${random.pick(remarks)} ` : "") + speak(text);
      add({ kind: "user_turn", text: paste ? `${talk}\n\n${paste}` : talk, seam: talk.length });
    },
    A: (text) => add({ kind: "agent_msg", text: speak(text) }),
    T: (name, args, result) => {
      const told = Object.fromEntries(Object.entries(args).map(([key, value]) => [key, typeof value === "string" ? speak(value) : value]));
      const call = add({ kind: "tool_call", text: `${name} ${JSON.stringify(told)}`, metadata: { tool_name: name } });
      add({
        kind: "tool_result",
        text: typeof result === "string" ? result : JSON.stringify(result, null, random.pick([undefined, 1])),
        parent: call,
        metadata: { tool_name: name },
      });
    },
  };
  for (let last = -1, sum = 0; sum < size; sum = items.reduce((n, item) => n + tokens(item.text), 0)) {
    let next = last;
    while (next === last) next = random.between(0, domain.episodes.length - 1);
    topic = {};
    domain.episodes[next](d);
    last = next;
  }
  return items;
}

/** A fragment at its commas, unless a part would be tiny: what is shown need not keep the words between. */
function clauses(fragment) {
  const parts = fragment.split(/[,;] +|[，、；]/).map((part) => part.trim());
  const long = (part) => part.length >= (/\p{Script=Latin}|\p{Script=Cyrillic}/u.test(part) ? 9 : 3);
  return parts.length < 4 && parts.every(long) ? parts : [fragment];
}

/**
 * Takes the marks out of a text.
 * `<<name class flags|words>>`: words of a statement that must be seen. Later marks of the same name need no class; `<<name-|words>>` is
 * the part that a later statement replaces. `<<!name|words>>`: a sentence that is not the user's. `<<?name|words>>`: what introduces it.
 */
function unmark(text) {
  const marks = [];
  const plain = text.replace(/<<([!?]?)([a-z0-9]+)(-?)([^|<>]*)\|([\s\S]*?)>>/g, (_, sign, name, gone, label, words) => {
    marks.push({ sign, name, gone: gone === "-", label: label.trim().split(/ +/).filter(Boolean), words });
    return words;
  });
  if (/<<|>>/.test(plain)) throw new Error(`a mark is left in: ${plain.slice(0, 90)}`);
  return { plain, marks };
}

/** The statement of all marks of one name. Flags: a language, implicit, one_off, x=name replaces, p=name replaces a part, w=name withdraws. */
function statement(name, marks, lang) {
  const [cls, ...flags] = marks.find((m) => m.label.length)?.label ?? [];
  if (!CLASSES.includes(cls)) throw new Error(`${name} has no class`);
  const s = {
    id: name,
    item: "",
    class: cls,
    lang: flags.find((f) => LANGUAGES.includes(f)) ?? lang,
    implicit: flags.includes("implicit"),
    role: flags.includes("one_off") ? "one_off" : "standing",
  };
  const words = (list) => list.flatMap((m) => clauses(m.words));
  s.must = words(marks);
  if (marks.some((m) => m.gone)) s.parts = { gone: words(marks.filter((m) => m.gone)), rest: words(marks.filter((m) => !m.gone)) };
  for (const flag of flags) {
    const how = { "x=": "full", "p=": "part", "w=": "withdrawn" }[flag.slice(0, 2)];
    if (how) s.replaces = { id: flag.slice(2), how };
    else if (!LANGUAGES.includes(flag) && flag !== "implicit" && flag !== "one_off") throw new Error(`${name}: flag ${flag}`);
  }
  if (s.replaces?.how === "withdrawn") s.role = "withdrawal";
  return s;
}

/** What is in force before items[end], and what was in force and is gone. */
export function standing(statements, end) {
  const past = statements.filter((s) => s.at < end),
    heir = (id, whole) => past.find((s) => s.replaces?.id === id && !(whole && s.replaces.how === "part"));
  const live = [],
    gone = [];
  for (const s of past) {
    const by = heir(s.id);
    if (s.role === "standing" && (!by || by.replaces.how === "part")) live.push({ id: s.id, must: by ? s.parts.rest : s.must });
    if (!by) continue;
    let last = by;
    for (let next = heir(last.id, true); next; next = heir(last.id, true)) last = next;
    gone.push({
      id: s.id,
      must: by.replaces.how === "part" ? s.parts.gone : s.must,
      by: last.id,
      how: last.role === "withdrawal" ? "withdrawn" : by.replaces.how,
    });
  }
  return { standing: live, gone, one_off: past.filter((s) => s.role === "one_off").map((s) => s.id) };
}

/** Where a turn may come: before what the user says or the agent begins, while no call waits. */
const openings = (base) =>
  [...base.keys()].filter((i) => base[i].kind === "user_turn" || (base[i].kind === "tool_call" && base[i - 1].kind === "tool_result")).concat(base.length);

/** The turn that takes words of the user: for words between its sentences the one with most below it that is pasted, for others one without. */
function host(base, from, reach, how, taken) {
  const open = [...base.keys()].filter((i) => i >= from && base[i].kind === "user_turn" && !taken.has(i)),
    near = open.filter((i) => i < from + reach);
  const pasted = (i) => base[i].text.length - base[i].seam;
  return (how === "mid" ? near.reduce((best, i) => (pasted(i) > pasted(best) ? i : best), near[0]) : near.find((i) => !pasted(i))) ?? open[0];
}

/** A place for each entry, in their order: they share the conversation behind `from`, or all of it and then the first one opens it; the last stands at its end. */
function places(id, turns, base, from) {
  const random = generator(`${id}/places`),
    free = openings(base),
    taken = new Set();
  let floor = 0;
  return turns.map((turn, k) => {
    const share = k === 0 && from === undefined ? 0 : (k + 0.1 + 0.8 * random.next()) / turns.length;
    const want = k === turns.length - 1 ? base.length : ((from ?? 0) + (1 - (from ?? 0)) * share) * base.length;
    const allowed = free.filter((i) => i >= floor),
      p = allowed.reduce((best, i) => (Math.abs(i - want) < Math.abs(best - want) ? i : best), allowed[0]);
    floor = p;
    if (!Array.isArray(turn)) return p;
    const at = host(base, p, base.length / turns.length, turn[0], taken);
    if (at === undefined) throw new Error(`${id}: no turn to join for ${turn[1].slice(0, 60)}`);
    taken.add(at);
    floor = at + 1;
    return at;
  });
}

/** Puts words of the user into a turn: at its start, at its end, or between its sentences, never behind what introduces something pasted. */
function joined({ text, seam }, how, words) {
  const after = (before) => (/[.?!…。？！]$/.test(before) ? `${before} ` : `${before}\n`);
  if (how === "start") return after(words) + text;
  if (how === "end") return seam < text.length ? `${text}\n\n${words}` : after(text) + words;
  const talk = text.slice(0, seam);
  if (/[.?!…]$/.test(talk) && seam < text.length) return after(talk) + words + text.slice(seam);
  const cut = [...talk.matchAll(/[.?!…] +|[。！？] ?/g)].filter((m) => m.index + m[0].length < talk.length).at(-1);
  const at = cut ? cut.index + cut[0].length : 0;
  return talk.slice(0, at) + after(words) + text.slice(at);
}

/** The items with the texts among them; `said` lists which item holds which marks, `asks` before which item a probe stands. */
function assemble({ id, size, from, turns }, domain, remarks) {
  const random = generator(`${id}/acks`),
    base = converse(id, domain, size, remarks),
    at = places(id, turns, base, from);
  const items = [],
    said = [],
    asks = [];
  const put = (item, { plain, marks }, text = plain) => {
    item.text = text;
    said.push({ item, marks });
    items.push(item);
  };
  const own = (turn) => {
    if (turn.ask) asks.push({ turn, end: items.length });
    else if (typeof turn === "string") {
      put({ kind: "user_turn" }, unmark(turn));
      if (random.chance(0.65)) items.push({ kind: "agent_msg", text: random.pick(domain.acks) });
    } else if (turn.agent) put({ kind: "agent_msg" }, unmark(turn.agent));
    else {
      const metadata = { tool_name: turn.tool },
        call = { kind: "tool_call", text: `${turn.tool} ${JSON.stringify(turn.args)}`, metadata };
      items.push(call);
      put({ kind: "tool_result", parent: call, metadata }, unmark(turn.result));
    }
  };
  for (let i = 0; i <= base.length; i += 1) {
    const here = turns.filter((_, k) => at[k] === i),
      guest = here.find(Array.isArray);
    here.filter((turn) => turn !== guest).forEach(own);
    if (guest) {
      const marked = unmark(guest[1]);
      put(base[i], marked, joined(base[i], guest[0], marked.plain));
    } else if (i < base.length) items.push(base[i]);
  }
  items.forEach((item, n) => {
    item.id = `i${String(n + 1).padStart(3, "0")}`;
  });
  return { items, said, asks };
}

/** The statements and the sentences of others of one item. */
function labels(item, at, marks, lang) {
  const names = [...new Set(marks.filter((m) => !m.sign).map((m) => m.name))];
  const statements = names.map((name) => {
    const mine = marks.filter((m) => !m.sign && m.name === name),
      rest = item.text.length - mine.reduce((n, m) => n + m.words.length, 0);
    return { ...statement(name, mine, lang), item: item.id, style: names.length > 1 ? "several" : rest > 160 ? "chatter" : "alone", at };
  });
  const distractors = marks
    .filter((m) => m.sign === "!")
    .map(({ name, words }) => {
      const lead = marks.find((m) => m.sign === "?" && m.name === name)?.words;
      return { id: name, item: item.id, carrier: item.kind === "user_turn" ? "quotation" : item.kind, fragment: words, ...(lead ? { lead } : {}) };
    });
  return { statements, distractors };
}

/** One conversation as the scorer reads it. */
export function conversation(entry, domain, remarks) {
  const { id, lang = "en" } = entry,
    { items, said, asks } = assemble(entry, domain, remarks);
  const found = said.map(({ item, marks }) => labels(item, items.indexOf(item), marks, lang)),
    statements = found.flatMap((f) => f.statements);
  const plain = items.map(({ id: name, kind, text, parent, metadata }) => ({
    id: name,
    kind,
    text,
    ...(parent ? { parent_id: parent.id } : {}),
    ...(metadata ? { metadata } : {}),
  }));
  const probes = asks.map(({ turn, end }, n) => ({
    id: `${id}/p${n + 1}`,
    at: end - 1,
    query: turn.ask,
    related: Boolean(turn.decides),
    ...standing(statements, end),
  }));
  return { id, tokens: tokens(plain.map((item) => item.text).join("")), items: plain, statements, distractors: found.flatMap((f) => f.distractors), probes };
}
