// The facade as JavaScript: with declarations and checked types, or with its types taken off.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesBelow } from "./files.mjs";
import { esbuild, npmModules, run, template } from "./tools.mjs";

const sources = join(template, "src");

/** Compiles the facade against the declarations of the generated glue. */
export async function checkedFacade(target, glue) {
  const out = join(target, "facade");
  const project = join(target, "tsconfig.facade.json");
  const settings = {
    extends: join(template, "tsconfig.json"),
    compilerOptions: {
      rootDir: sources,
      rootDirs: [sources, dirname(glue)],
      outDir: out,
      incremental: true,
      tsBuildInfoFile: join(out, "facade.tsbuildinfo"),
      paths: {
        // Carried inside `unpack.js`.
        fflate: [join(npmModules, "fflate/lib/index.d.ts")],
        // Adapters import the package by its name.
        contextweaver: [join(sources, "api.ts")],
      },
    },
    include: [sources],
  };
  writeFileSync(project, JSON.stringify(settings));
  run(process.execPath, [join(npmModules, "typescript/bin/tsc"), "--project", project]);
  const files = filesBelow(out);
  for (const path of files.keys()) {
    // A source that was removed must not live on, and what tsc remembers is not of the package.
    const source = join(sources, path.replace(/\.(d\.ts|js)$/, ""));
    if (existsSync(`${source}.ts`) || existsSync(`${source}.d.ts`)) continue;
    files.delete(path);
    if (!path.endsWith(".tsbuildinfo")) rmSync(join(out, path));
  }
  return files.set("boundary/unpack.js", await unpacker());
}

/** Takes the types off the facade without looking at them, as the modules that they speak of are not all there. */
export async function uncheckedFacade() {
  const entryPoints = [...filesBelow(sources).keys()].filter((path) => !path.endsWith(".d.ts"));
  const { outputFiles } = await esbuild.build({
    absWorkingDir: sources,
    entryPoints,
    outbase: sources,
    outdir: sources,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const files = outputFiles.map(({ path, contents }) => [path.slice(sources.length + 1), contents]);
  return new Map(files).set("boundary/unpack.js", await unpacker());
}

/** The one file that needs a decompressor, with it: the package has no dependencies. */
async function unpacker() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(sources, "boundary/unpack.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    minifySyntax: true,
    legalComments: "none",
    nodePaths: [npmModules],
    write: false,
  });
  return outputFiles[0].contents;
}
