// Labels for a recorded session: which earlier results does a step need, and for which strings?
//
// A call needs a value that it copies when the newest item that holds it is a result at least three steps back, and neither the
// thought of the step, nor a user, nor the last two results hold it. All holders are alternatives. The rule is that of the public
// sets of trajectories, so that recall means the same.

const STEPS_BACK = 3;
const NEWEST_RESULTS = 2;
const MOST_HOLDERS = 8;
const MOST_GROUPS = 3;
/** Of a long line so much has to be there. */
const MOST_CHARACTERS = 100;
/** A query before so many tokens says nothing about a budget. */
const LEAST_BEFORE = 6_000;

const ID = /(?<![\w-])[A-Z]{1,4}-?\d{3,}(?:-[A-Z0-9]+)*(?![\w-])|(?<![\w-])[a-z]{2,8}_[a-z0-9]*\d[a-z0-9]*(?![\w-])/g;
const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const PATH = /(?<![\w.-])(?:[\w.-]+\/)+[\w-]+\.[a-z]{2,4}(?![\w/])/g;
const AMOUNT = /(?<![\w.])\d{2,6}\.\d{2}(?![\w.])/g;
const FROM_LINE = /sed -n ["']?(\d{2,4}),/g;

/** Strings that a call writes and that an earlier result may have given it. */
function valuesOf(text) {
  const plain = text.replaceAll("/project/", "");
  const found = [ID, EMAIL, PATH, AMOUNT].flatMap((pattern) => plain.match(pattern) ?? []);
  return [...new Set(found)].filter((value) => value.length >= 5);
}

const isWord = (character) => character !== undefined && /[A-Za-z0-9_]/.test(character);

/** Whether a text holds a value as a word of its own. */
export function has(text, value) {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (!isWord(text[at - 1]) && !isWord(text[at + value.length])) return true;
  }
  return false;
}

/** The lines of searches that a call to read from a line on was made of: `file:line:text`, or `line:text`. */
function linesOf(call, items) {
  return [...call.matchAll(FROM_LINE)].flatMap(([, number]) => {
    const pattern = new RegExp(`^(?:[\\w./-]+:)?${number}:.*\\S`, "m");
    const path = call.match(PATH)?.[0];
    const hit = items.findLast(
      ({ kind, text }) => kind === "tool_result" && pattern.test(text) && (path === undefined || text.includes(path) || call.includes(path)),
    );
    const line = hit && pattern.exec(hit.text)[0];
    return line !== undefined && line.length >= 14 ? [line.slice(0, MOST_CHARACTERS)] : [];
  });
}

/** The items that hold a value, when the newest of them is a result that lies back far enough; else nothing. */
function holders(value, call, { items, steps }) {
  const all = [];
  for (let at = 0; at < call; at += 1) if (has(items[at].text, value)) all.push(at);
  if (all.length === 0 || all.length > MOST_HOLDERS) return undefined;
  const results = items.slice(0, call).flatMap(({ kind }, at) => (kind === "tool_result" ? [at] : []));
  const isNew = (at) => results.slice(-NEWEST_RESULTS).includes(at) || steps[at] > steps[call] - STEPS_BACK;
  if (items[all[0]].kind !== "tool_result" || items[all.at(-1)].kind !== "tool_result" || isNew(all.at(-1))) return undefined;
  return all.some((at) => items[at].kind === "user_turn") ? undefined : all;
}

function question(call, log) {
  const { items } = log;
  const thought = items[call - 1];
  if (thought?.kind !== "agent_msg") return undefined;
  const before = items.slice(0, call);
  const values = [...linesOf(items[call].text, before), ...valuesOf(items[call].text)];
  const found = values.flatMap((value) => {
    const all = has(thought.text, value) ? undefined : holders(value, call, log);
    return all ? [{ value, all }] : [];
  });
  // What few items hold says most.
  found.sort((a, b) => a.all.length - b.all.length);
  const groups = [];
  const strings = {};
  for (const { value, all } of found) {
    const ids = all.map((at) => items[at].id);
    if (!groups.some((group) => group.join() === ids.join())) {
      if (groups.length === MOST_GROUPS) continue;
      groups.push(ids);
    }
    for (const id of ids) (strings[id] ??= []).push(value);
  }
  if (groups.length === 0) return undefined;
  const evidence = [...new Set(groups.map((group) => group.at(-1)))].sort();
  return { query: thought.text, at: call - 1, evidence, groups, values: strings };
}

/** At most `count` of the questions, spread over the session; where there is a choice, one whose thought was not taken yet. */
function spread(all, count) {
  if (all.length <= count) return all;
  const taken = new Set();
  return Array.from({ length: count }, (_, part) => {
    const [from, to] = [part, part + 1].map((edge) => Math.floor((edge * all.length) / count));
    const fresh = all.slice(from, to).filter(({ query }) => !taken.has(query));
    const choice = fresh.length > 0 ? fresh : all.slice(from, to);
    const one = choice[Math.floor(choice.length / 2)];
    taken.add(one.query);
    return one;
  });
}

/** The labelled questions of a session. */
export function questions(items, count) {
  let step = 0;
  let tokens = 0;
  const before = [];
  const steps = items.map(({ kind, text }) => {
    if (kind === "tool_call") step += 1;
    before.push(tokens);
    tokens += Math.ceil(text.length / 4);
    return step;
  });
  const calls = items.flatMap(({ kind }, at) => (kind === "tool_call" && before[at] >= LEAST_BEFORE ? [at] : []));
  return spread(calls.map((call) => question(call, { items, steps })).filter(Boolean), count);
}
