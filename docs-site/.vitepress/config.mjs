// The documents as a site, out of the files of the repository: README.md is its start, docs/README.md says what belongs together.
import { cpSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const installed = (path) => join(here, "..", "node_modules", path);
/** The page of `cargo xtask serve`, bundled: it runs from any folder. */
const demo = process.env.DOCS_DEMO ?? join(root, "target", "site");
/** Files that documents lead to and that are no pages, by what they are called on the site. */
const FILES = { NOTICE: "NOTICE.txt", "llms.txt": "llms.txt" };
/** What of the repository is on the site; the rest is for those who work on it. */
const SHOWN = ["README.md", "CHANGELOG.md", "SECURITY.md", "docs", "skills"];

/** That of the page of the demo. */
const [, ICON] = /rel="icon"\s+href="([^"]+)"/.exec(readFileSync(join(root, "www", "index.html"), "utf8"));

/** The kinds of pages with the pages of each, as docs/README.md lists them. */
const sections = readFileSync(join(root, "docs", "README.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.split("\n", 1)[0],
    items: [...section.matchAll(/^\| \[[^\]]+\]\(([\w-]+)\.md\)/gm)].map(([, page]) => ({
      text: titleOf(page),
      link: `/docs/${page}`,
    })),
  }));

/** The title of a page without its kind, which stands above it. */
function titleOf(page) {
  const [, title] = /^# [\w-]+: (.*)$/m.exec(readFileSync(join(root, "docs", `${page}.md`), "utf8"));
  return (title[0].toUpperCase() + title.slice(1)).replaceAll("`", "");
}

/** Leads to where a file of the repository is on the site. */
function ledTo(target) {
  if (/^[a-z]+:|^#/.test(target)) return target;
  const [path, anchor] = target.split("#");
  const name = path.split("/").at(-1);
  if (name in FILES) return `/${FILES[name]}`;
  return `${path.replace(/README\.md$/, "index.md")}${anchor === undefined ? "" : `#${anchor}`}`;
}

export default defineConfig({
  title: "contextweaver",
  description: "A context engine for tool-using agents: a hard budget, nothing lost, an explanation, a lower bill.",
  lang: "en",
  // Where the site is served from, such as /contextweaver/.
  base: process.env.DOCS_BASE ?? "/",
  srcDir: root,
  srcExclude: readdirSync(root)
    .filter((name) => !SHOWN.includes(name))
    .flatMap((name) => [name, `${name}/**`]),
  outDir: process.env.DOCS_OUT ?? join(root, "target", "docs"),
  cacheDir: join(root, "target", "docs-cache"),
  rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md" },
  ignoreDeadLinks: [/^\/(NOTICE|llms)/, /\/demo\//],
  // Nothing is fetched from elsewhere, and nothing changes with the day of the build.
  lastUpdated: false,
  head: [["link", { rel: "icon", href: ICON }]],
  markdown: {
    // The anchors of headings are those that readers of the repository see.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
    },
    config(md) {
      md.core.ruler.push("led-to", ({ tokens }) => {
        for (const { children } of tokens) {
          for (const token of children ?? [])
            if (token.type === "link_open") token.attrSet("href", ledTo(token.attrGet("href")));
        }
      });
    },
  },
  // The pages are outside of the folder in which the generator is installed.
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: installed("vue/server-renderer/index.mjs") },
        { find: /^vue$/, replacement: installed("vue/dist/vue.runtime.esm-bundler.js") },
      ],
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Documents", link: "/docs/" },
      { text: "Demo", link: "/demo/index.html", target: "_self" },
      { text: "Changes", link: "/CHANGELOG" },
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          { text: "What it is", link: "/" },
          { text: "All documents", link: "/docs/" },
        ],
      },
      ...sections.map((section) => ({ ...section, collapsed: section.items.length > 10 })),
    ],
    outline: { level: [2, 3] },
  },
  buildEnd({ outDir }) {
    if (!existsSync(join(demo, "index.html"))) throw new Error(`${demo} has no page: cargo xtask build --www`);
    cpSync(demo, join(outDir, "demo"), { recursive: true });
    for (const [file, name] of Object.entries(FILES)) cpSync(join(root, file), join(outDir, name));
  },
});
