// What the page shows before its engine is there. Run by the bundler: it asks the page's own operations what the page asks
// first, records their answers, and draws the page with them.
import { initSync } from "contextweaver/slim";
import { renderToString } from "preact-render-to-string";
import { type Asked, FIRST_PHASE, FIRST_PLACE, SAMPLE_NAME, askedOf, firstRequest } from "./context/first.ts";
import type { FirstSight } from "./context/tab.tsx";
import { Page } from "./page.tsx";
import { type Record, questionOf, remember } from "./shared/record.ts";
import { type Name, type Operations, operations } from "./worker/operations.ts";

/** The page as markup, and the answers that it is drawn from. */
export interface First {
  readonly markup: string;
  readonly record: Record;
}

export async function first(module: Uint8Array<ArrayBuffer>, sample: ArrayBuffer, meta: string): Promise<First> {
  initSync({ context: module });
  const record: { [question: string]: unknown } = {};
  const ask = async <N extends Name>(name: N, args: Parameters<Operations[N]>[0], question = questionOf(name, args)): Promise<Awaited<ReturnType<Operations[N]>>> => {
    const operation = operations[name] as (asked: unknown) => unknown;
    return (record[question] = await operation(args)) as Awaited<ReturnType<Operations[N]>>;
  };
  const asked: Asked = askedOf(JSON.parse(meta) as Parameters<typeof askedOf>[0]);
  const overview = operations["context.load"]({ name: SAMPLE_NAME, bytes: sample, format: "recorded" });
  record[questionOf("first", null)] = { overview, asked } satisfies FirstSight;
  await ask("context.build", firstRequest(asked));
  const [phase, place] = [FIRST_PHASE, FIRST_PLACE];
  const filter = { show: "all", kind: "", search: "" };
  await ask("context.strip", { phase });
  await ask("context.item", { phase, place, part: 0 });
  await ask("context.why", { phase, place });
  await ask("context.missed", { phase });
  await ask("context.find", { phase, filter, place });
  await ask("context.rows", { phase, filter, from: 0, to: overview.items }, questionOf("context.rows", { phase, filter }));
  remember(record);
  return { markup: renderToString(<Page />), record };
}
