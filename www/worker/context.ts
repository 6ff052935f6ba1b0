// What the tab of prompts asks for.
import { artifactOf, artifacts, slice, views } from "./artifacts.ts";
import { build, fix } from "./builds.ts";
import { addTurn, load, settle } from "./log.ts";
import { changes, pageOf, prompt } from "./prompt.ts";
import { strip } from "./strip.ts";
import { find, ids, item, rows } from "./rows.ts";
import { rules } from "./rules.ts";
import { said, turns } from "./turns.ts";
import { missed, why } from "./why.ts";

export const operations = {
  "context.load": load,
  "context.settle": settle,
  "context.addTurn": addTurn,
  "context.build": build,
  "context.fix": fix,
  "context.rows": rows,
  "context.rules": rules,
  "context.strip": strip,
  "context.find": find,
  "context.ids": ids,
  "context.item": item,
  "context.why": why,
  "context.missed": missed,
  "context.prompt": prompt,
  "context.pageOf": pageOf,
  "context.changes": changes,
  "context.artifacts": artifacts,
  "context.artifactOf": artifactOf,
  "context.views": views,
  "context.slice": slice,
  "context.turns": turns,
  "context.said": said,
};
