// Sessions of a coding agent in the source of this package: searches, reading where they hit, edits, and looking at the difference.
import { ROOT } from "./agent.mjs";

/** The hits of `git grep -n`. */
function hits(text) {
  return text.split("\n").flatMap((line) => {
    const match = /^([\w./-]+):(\d+):(.*)$/.exec(line);
    return match ? [{ path: match[1], line: Number(match[2]), text: match[3] }] : [];
  });
}

/** What a file is about, by its name; one that is called as all are is named by its folder. */
function stem(path) {
  const [folder, file] = path.split("/").slice(-2);
  const name = file.replace(/\.\w+$/, "");
  return (["mod", "lib", "index"].includes(name) ? folder : name).replaceAll(/[_-]/g, " ");
}
const DEFINITION = /\b(?:fn|struct|enum|const|type|class|function|interface|export)\b/;

/** Lines that are read together. */
const NEAR = 60;

const READ = [
  (about, path) => `Now what ${stem(path)} does with ${about}.`,
  (about) => `Another hit of the search for ${about}. I read from there on.`,
  (about, path) => `What does ${stem(path)} need ${about} for? From the hit onwards.`,
  (about) => `Before anything changes around ${about}, I look at the next place of the list.`,
  (about, path) => `${stem(path)} was among the hits, too. Does it depend on ${about}?`,
];

const show = (agent, thought, { path, line }, length) => agent.shell(thought, `sed -n '${line},${line + length}p' ${path}`);

/** One place of each topic in turns, so that a search is some steps back when its next hit is opened. */
async function readInTurns(agent, topics, from, to) {
  for (let round = from; round < to; round += 1) {
    for (const [at, topic] of topics.entries()) {
      const hit = topic.places[round];
      if (hit) await show(agent, READ[(round * 2 + at) % READ.length](topic.about, hit.path), hit, 54 + 12 * ((round + at) % 4));
    }
  }
}

async function search(agent, topic) {
  const found = hits(
    await agent.shell(`A search over the sources for ${topic.about}.`, `git grep -n -e '${topic.word}' -- ${topic.under} | cut -c1-180 | head -40`),
  );
  if (found.length === 0) throw new Error(`nothing in the sources has '${topic.word}'`);
  const definition = found.find(({ text }) => DEFINITION.test(text)) ?? found[0];
  // What stands next to a place is read with it.
  const isNear = (one, other) => one.path === other.path && Math.abs(one.line - other.line) < NEAR;
  const places = found.filter((hit, at) => !isNear(hit, definition) && !found.slice(0, at).some((other) => isNear(hit, other)));
  return { ...topic, definition, places };
}

/** A task: find the topics, read where they are used, note it in the source, and say what was touched. */
function task({ request, folders, documents, topics: words, later }) {
  return {
    material: () => ({ folders: ["crates", "pkg-template/src", "docs", "ARCHITECTURE.md"], commits: [["State of the sources before the review", {}]] }),
    async run(agent) {
      agent.user(request);
      await agent.shell("An overview first.", "ls; git log --oneline | head -3; git ls-files | wc -l");
      await agent.step("The architecture, so that I look in the right places.", "filesystem", "read_text_file", { path: `${ROOT}/ARCHITECTURE.md`, head: 90 });
      await agent.shell(
        "Which files are there in the parts in question, and how long are they?",
        `git ls-files ${folders.join(" ")} | xargs wc -l | sort -n -r | head -70`,
      );
      const topics = [];
      for (const word of words) topics.push(await search(agent, word));
      for (const topic of topics) await show(agent, `First the definition of ${topic.about}.`, topic.definition, 70);
      await readInTurns(agent, topics, 0, 4);
      for (const page of documents)
        await agent.step(`What do users read about it? The page of the documents on ${stem(page)}.`, "filesystem", "read_text_file", {
          path: `${ROOT}/${page}`,
        });
      await readInTurns(agent, topics, 4, 7);
      agent.user(later);
      for (const topic of topics.slice(0, 4)) {
        const { path, line } = topic.definition;
        await agent.shell(
          `I mark the definition of ${topic.about}, so that a review finds it.`,
          `sed -i '${line}i // REVIEW: the next release changes ${topic.about}.' ${path} && git diff --stat`,
        );
        await agent.shell("Does the difference look right?", `git diff -U12 ${path}`);
        const place = topic.places[0];
        if (place)
          await agent.shell(
            `And at the first place outside that uses ${topic.about}.`,
            `sed -i '${place.line}i // REVIEW: follows ${topic.about}.' ${place.path} && git diff -U6 ${place.path}`,
          );
      }
      await readInTurns(agent, topics, 7, 11);
      const list = topics.map(
        ({ about, definition, places }) => `- ${about}: ${[definition, ...places.slice(0, 3)].map(({ path, line }) => `${path}:${line}`).join(", ")}`,
      );
      await agent.step("The notes for the review: each topic with where it is defined and where it is used first.", "filesystem", "write_file", {
        path: `${ROOT}/REVIEW.md`,
        content: `# Review\n\n${list.join("\n")}\n`,
      });
      for (const topic of topics.slice(2)) {
        const place = topic.places.at(-1);
        if (place) await show(agent, `A last look at the rarest use of ${topic.about}, which I have not opened yet.`, place, 40);
      }
      await agent.shell("Everything that was touched.", "git status --short; git diff --stat");
      agent.say("The definitions and their first uses are marked, and REVIEW.md lists all of them.");
    },
  };
}

export const compiler = task({
  request:
    "We want to change how prompts are compiled when a conversation goes on: stability, near repeats, the ledger and the reserve for the answer. " +
    "Find where each is defined, parsed and used, read enough to know what depends on it, and prepare a review. The crates are in crates/, the pages for users in docs/.",
  folders: ["crates/context/src", "crates/model/src"],
  documents: ["docs/budgets.md", "docs/phases.md"],
  topics: [
    { word: "stability", about: "the stability of what was sent", under: "crates pkg-template/src" },
    { word: "repeats", about: "near repeats", under: "crates pkg-template/src" },
    { word: "Ledger", about: "the ledger", under: "crates/context crates/model src pkg-template/src" },
    { word: "reserved_tokens", about: "the reserve of tokens", under: "crates pkg-template/src" },
    { word: "drop_reason", about: "the reason why an item was dropped", under: "crates pkg-template/src" },
    { word: "Estimator", about: "the estimate of tokens", under: "crates" },
  ],
  later:
    "Good. Mark the definitions of the first four and the first place outside that uses each, as comments, so that the review can begin. Then write the notes.",
});

export const gatewayTimeouts = task({
  request:
    "Users report that the gateway holds calls too long when an upstream server is slow. Find everything about timeouts, retries, sessions that are kept, cancelled calls " +
    "and notifications of changed lists in the TypeScript sources, understand how they hang together, and prepare a review.",
  folders: ["pkg-template/src/gateway", "pkg-template/src/service"],
  documents: ["docs/gateway.md", "docs/sidecar.md", "docs/service.md"],
  topics: [
    { word: "timeout", about: "the timeout of a call", under: "pkg-template/src" },
    { word: "retry", about: "trying again", under: "pkg-template/src crates/gateway" },
    { word: "istChanged", about: "the notification of changed lists", under: "pkg-template/src crates/gateway" },
    { word: "signal", about: "cancelling a call", under: "pkg-template/src/gateway" },
    { word: "kept", about: "sessions that are kept", under: "pkg-template/src/gateway" },
    { word: "notification", about: "notifications that are passed on", under: "pkg-template/src/gateway crates/gateway/src" },
    { word: "elicitation", about: "questions of a server to the user", under: "pkg-template/src/gateway crates/gateway" },
  ],
  later: "Fine. Mark where the first four are defined and the first use of each, and write the notes. Then look at whatever you have not opened yet.",
});

export const conversions = task({
  request:
    "We add a provider. Find out how messages of the present ones become items and go back: calls with their results, pictures, thinking, names of tools that a provider does not allow, " +
    "and what is counted for each. Read the crate that converts and what calls it, and prepare a review of what a fifth provider has to touch.",
  folders: ["crates/convert/src", "crates/routing/src"],
  documents: ["docs/messages.md", "docs/anthropic.md", "docs/openai.md"],
  topics: [
    { word: "signature", about: "signatures of thinking", under: "crates/convert crates/context src" },
    { word: "to_messages", about: "writing items as messages", under: "crates src" },
    { word: "tool_use", about: "calls of Anthropic", under: "crates/convert" },
    { word: "functionResponse", about: "results of Gemini", under: "crates/convert pkg-template/src" },
    { word: "thinking", about: "thinking of a model", under: "crates/convert crates/context" },
    { word: "image", about: "pictures", under: "crates/convert crates/context" },
  ],
  later: "Mark the definitions of the first four and where they are used first, then write the notes for whoever adds the provider.",
});
