// Storages of sessions: the same cases on every engine.
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { assert as plain } from "./assert.mjs";
import { packageDir, report } from "./harness.mjs";
import { runStorageCases } from "./storage-contract.mjs";

const { memoryStore } = await import(pathToFileURL(join(packageDir, "dist", "storage.js")));

test("memory", async (t) => {
  const open = () => {
    const store = memoryStore({ clock: Date.now });
    const session = (id) => store.session(id);
    return { session, other: session, store: () => store };
  };
  await report(t, await runStorageCases(open, plain));
});
