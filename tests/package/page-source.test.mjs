// The sources of the page: strict types, and nothing that could turn text into elements or reach the network.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import test from "node:test";
import { here, packageDir, root, run } from "./harness.mjs";

const www = join(root, "www");

async function sources(folder = www) {
  const found = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await sources(path)));
    else if (/\.tsx?$/.test(entry.name)) found.push(path);
  }
  return found;
}

test("Page: sources", async (t) => {
  await t.test("have strict types", async () => {
    assert.equal(packageDir, join(root, "pkg"), "tsconfig.json names the package by its place");
    await run(join(here, "node_modules", ".bin", "tsc"), ["--project", join(www, "tsconfig.json")]);
  });

  await t.test("make elements of no text", async () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|\beval\b|new Function|javascript:|<iframe/;
    for (const file of await sources()) assert.doesNotMatch(await readFile(file, "utf8"), forbidden, relative(root, file));
  });

  await t.test("fetch nothing but the page's own files", async () => {
    for (const file of await sources()) {
      const text = await readFile(file, "utf8");
      for (const [, argument] of text.matchAll(/\bfetch\(([^)]*)/g)) assert.match(argument, /^new URL\(`\.\//, relative(root, file));
      assert.doesNotMatch(text, /XMLHttpRequest\(|new WebSocket|new EventSource|sendBeacon|\bany\b(?=[;,)>\]])/, relative(root, file));
    }
  });

  await t.test("have a policy that admits nothing of others", async () => {
    const [, meta] = /Content-Security-Policy"\s+content="([^"]+)"/.exec(await readFile(join(www, "index.html"), "utf8")) ?? [];
    assert.equal(
      meta,
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src '%STYLE_HASH%'; img-src 'self' data: blob:; media-src blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'",
    );
  });
});
