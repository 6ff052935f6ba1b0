// A reporter of `node:test`: a line of JSON for each test, as `run.mjs` reads them.
import { inspect } from "node:util";

export default async function* events(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name: test, skip, todo, details } = data;
    const reason = skip ?? todo;
    const skipped = reason === undefined ? undefined : typeof reason === "string" && reason !== "" ? reason : "skipped";
    const error = type === "test:fail" ? inspect(details.error?.cause ?? details.error, { depth: 8, maxStringLength: 20_000 }) : undefined;
    yield `${JSON.stringify({ test, skipped, error })}\n`;
  }
}
