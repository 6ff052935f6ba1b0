// What the tab of prompts asks for.
import { build } from "./builds.ts";
import { addTurn, load, settle } from "./log.ts";
import { pageOf, prompt } from "./prompt.ts";
import { find, ids, item, rows } from "./rows.ts";
import { rules } from "./rules.ts";
import { said, turns } from "./turns.ts";
import { why } from "./why.ts";

export const operations = {
  "context.load": load,
  "context.settle": settle,
  "context.addTurn": addTurn,
  "context.build": build,
  "context.rows": rows,
  "context.rules": rules,
  "context.find": find,
  "context.ids": ids,
  "context.item": item,
  "context.why": why,
  "context.prompt": prompt,
  "context.pageOf": pageOf,
  "context.turns": turns,
  "context.said": said,
};
