// What package linters say of the tarball.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { here, manifest, packageDir, run, tarball } from "./harness.mjs";

test("publint has nothing to say", async () => {
  const { messages } = await publint({ pkgDir: packageDir, strict: true, pack: "npm" });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, manifest)),
    [],
  );
});

test("attw finds the types from every resolution mode", async () => {
  const attw = join(here, "node_modules", ".bin", "attw");
  // The .wasm sub-paths are files, not modules with types.
  const files = Object.keys(manifest.exports).filter((name) => name.endsWith(".wasm"));
  await run(attw, [tarball, "--profile", "esm-only", "--exclude-entrypoints", ...files]);
});
