// The cases every runtime must pass: one list, run identically in Node, workerd, Chromium, Deno, Bun and in bundles.
// Only the language itself may be used here: no file, no request, no runtime's own names.
import { runAll } from "./assert.mjs";
import { behaviourCases } from "./behaviour.mjs";
import { catalogCases } from "./catalog.mjs";
import { leakCases } from "./context-leaks.mjs";
import { decisionCases } from "./decisions.mjs";
import { embeddingCases } from "./embedding.mjs";
import { hostileCases } from "./hostile.mjs";
import { journalCases } from "./journal.mjs";
import { mcpCases } from "./mcp.mjs";
import { messageCases } from "./messages.mjs";
import { resultCases } from "./results.mjs";
import { routingCases } from "./routing.mjs";
import { storedCases } from "./stored.mjs";
import { storeCases } from "./stores.mjs";
import { contextCases } from "./tool-call-context.mjs";
import { toolDefinitionCases } from "./tool-definition.mjs";

/** `{ name: async (cw, assert, expected) => … }` */
const cases = {
  "version is that of the package"(cw, assert, expected) {
    assert.equal(cw.version(), expected.version);
  },
  ...behaviourCases,
  ...storeCases,
  ...resultCases,
  ...catalogCases,
  ...routingCases,
  ...mcpCases,
  ...messageCases,
  ...contextCases,
  ...leakCases,
  ...toolDefinitionCases,
  ...decisionCases,
  ...embeddingCases,
  ...journalCases,
  ...storedCases,
  ...hostileCases,
};

/** Runs all cases on the imported package. `expected` has what only the caller can know, such as the version in package.json. */
export const runCases = (cw, assert, expected) => runAll(cases, cw, assert, expected);
