// The files of the page as the package has them, and nothing else that is on the disk.
import { readFileSync } from "node:fs";
import { UsageError } from "./options.js";

const PAGE = new URL("../../page/", import.meta.url);
/** What the package has anyway is not in it a second time. */
const ELSEWHERE: readonly (readonly [of: RegExp, folder: URL])[] = [
  [/^(?=[\w-]+\.wasm$)/, new URL("../wasm/", import.meta.url)],
  [/^samples\/(?=catalogs\/|shop\.)/, new URL("../../demo/", import.meta.url)],
];
/** Names of which no part leads out of a folder, or to what is hidden. */
const NAME = /^(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)+$/;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  jsonl: "text/plain; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  wasm: "application/wasm",
};

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The file of a name relative to the page; undefined where there is none. */
export function pageFile(name: string): PageFile | undefined {
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
  if (type === undefined || !NAME.test(name)) return undefined;
  const [of, folder] = ELSEWHERE.find(([of]) => of.test(name)) ?? [/^/, PAGE];
  try {
    return { type, bytes: readFileSync(new URL(name.replace(of, ""), folder)) };
  } catch {
    return undefined;
  }
}

/** The page itself, which says in its head what it was opened with, and the policy that it is to be served under. */
export function pageWith(name: string): { readonly html: string; readonly policy: string } {
  const file = pageFile("opened.html");
  if (!file)
    throw new UsageError(
      "this build of the package has no page; install it from the registry, or run `cargo xtask build`",
      "input",
    );
  const html = new TextDecoder().decode(file.bytes);
  // Who may frame it, only a header can say.
  const [, own = "default-src 'none'"] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(html) ?? [];
  const opened = `<meta name="contextweaver-file" content="${escaped(name)}" />`;
  return { html: html.replace("</head>", () => `  ${opened}\n  </head>`), policy: `${own}; frame-ancestors 'none'` };
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
}
