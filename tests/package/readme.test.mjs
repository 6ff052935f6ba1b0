// Runs the code blocks of README.md in a project with the package installed.
//
//   ```js, ```ts         run; TypeScript is also compiled under strict settings
//   ```js norun          only compiled: needs something a test has not, such as a deployed Worker
//   ```sh run            run by sh in the project; other shell blocks are for the reader
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { transform } from "esbuild";
import { here, project, root, run } from "./harness.mjs";

const blocks = fences(await readFile(join(root, "README.md"), "utf8"));
const folder = await project("readme");
const path = `${join(folder, "node_modules", ".bin")}:${process.env.PATH}`;

test("README.md has code to run", () => {
  assert.ok(blocks.some(({ language }) => language === "js" || language === "ts"));
});

for (const { language, words, line, code } of blocks) {
  const name = `README.md:${line} (${language})`;
  const file = `line-${line}`;
  if (language === "js" || language === "ts") {
    test(name, async () => {
      if (language === "ts") await typeCheck(file, code);
      const script = language === "ts" ? (await transform(code, { loader: "ts", target: "es2022" })).code : code;
      await writeFile(join(folder, `${file}.mjs`), script);
      await run("node", words.includes("norun") ? ["--check", `${file}.mjs`] : [`${file}.mjs`], { cwd: folder });
    });
  } else if (language === "sh" && words.includes("run")) {
    test(name, () => run("sh", ["-e", "-c", code], { cwd: folder, env: { PATH: path } }));
  }
}

async function typeCheck(file, code) {
  // An import-free snippet would otherwise share the global scope.
  await writeFile(join(folder, `${file}.ts`), `${code}\nexport {};\n`);
  const tsc = join(here, "node_modules", ".bin", "tsc");
  const options = ["--strict", "--noEmit", "--target", "ES2022", "--module", "NodeNext", "--lib", "ES2023,DOM"];
  await run(tsc, [...options, "--typeRoots", join(here, "node_modules", "@types"), "--types", "node", `${file}.ts`], {
    cwd: folder,
  });
}

/** The fenced blocks of a Markdown text with the line their code begins on. */
function fences(text) {
  const found = [];
  let open;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (open && fence && fence[3] === "" && fence[2].startsWith(open.mark)) {
      found.push({ language: open.language, words: open.words, line: open.line, code: open.code.join("\n") });
      open = undefined;
    } else if (open) {
      open.code.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    } else if (fence) {
      const [language = "", ...words] = fence[3].split(/\s+/);
      open = { indent: fence[1], mark: fence[2], language, words, line: index + 2, code: [] };
    }
  }
  return found;
}
