// How parts of the page are bundled around a package.
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const facade = join(here, "..", "pkg-template", "src");
const audit = join(facade, "audit");

/** Options of esbuild; `packageDir` is the folder of a built package. */
export function buildOptions(packageDir) {
  const dist = resolve(packageDir, "dist");
  /**
   * What reads recorded sessions and plays them is the program's, and not in what browsers get of the package: it is taken from the
   * source, and what it imports from the package that it was made of.
   */
  const recorded = {
    name: "recorded",
    setup: (esbuild) => {
      esbuild.onResolve({ filter: /^\.\.?\// }, ({ importer, resolveDir, path }) => {
        if (!importer.startsWith(audit)) return undefined;
        const to = resolve(resolveDir, path);
        return {
          path: to.startsWith(join(audit, "/")) ? to.replace(/\.js$/, ".ts") : join(dist, relative(facade, to)),
        };
      });
    },
  };
  return {
    absWorkingDir: here,
    bundle: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    alias: {
      "contextweaver/slim": join(dist, "slim.js"),
      "contextweaver/gateway-runtime": join(dist, "gateway", "runtime.js"),
      "contextweaver/recording": join(audit, "recording.ts"),
      "contextweaver/tape": join(audit, "tape.ts"),
      // What adapters share imports the package by its name.
      contextweaver: join(dist, "slim.js"),
    },
    plugins: [recorded],
    logLevel: "warning",
  };
}
