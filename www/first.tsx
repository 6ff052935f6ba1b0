// What the page shows before its engine is there. Run by the bundler: it asks the page's own operations what the page asks
// first, records their answers, and draws the page with them.
import { initSync } from "contextweaver/slim";
import { renderToString } from "preact-render-to-string";
import { Page } from "./page.tsx";
import { firstCall, tapeKey, tapeRequest } from "./session/tab.tsx";
import { SAMPLE_NAME, type FirstSight } from "./shared/session.ts";
import { type Record, questionOf, remember } from "./shared/record.ts";
import { type Name, type Operations, operations } from "./worker/operations.ts";

/** The page as markup, and the answers that it is drawn from. */
export interface First {
  readonly markup: string;
  readonly record: Record;
}

export async function first(module: Uint8Array<ArrayBuffer>, sample: ArrayBuffer): Promise<First> {
  initSync({ agent: module });
  const record: { [question: string]: unknown } = {};
  const ask = async <N extends Name>(
    name: N,
    args: Parameters<Operations[N]>[0],
  ): Promise<Awaited<ReturnType<Operations[N]>>> => {
    const operation = operations[name] as (asked: unknown) => unknown;
    return (record[questionOf(name, args)] = await operation(args)) as Awaited<ReturnType<Operations[N]>>;
  };
  const session = await operations["session.open"]({ name: SAMPLE_NAME, file: new Blob([sample]) });
  const request = tapeRequest(session, true);
  record[questionOf("first", null)] = { session, tape: request } satisfies FirstSight;
  const tape = await ask("session.tape", request);
  await ask("session.call", { number: firstCall(tape) });
  await ask("session.cuts", { key: tapeKey(1, tape) });
  remember(record);
  return { markup: renderToString(<Page />), record };
}
