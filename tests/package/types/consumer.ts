// Compiled, never run: what a strict consumer of the package writes.
import * as root from "contextweaver";
import * as slim from "contextweaver/slim";

const text: string = root.version();
const same: typeof root.version = slim.version;

export async function start(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  slim.initSync(bytes);
  slim.initSync(bytes, bytes);
  slim.initSync(undefined, bytes);
  await slim.init(bytes);
  await slim.init(undefined, fetch("https://example.org/routing_bg.wasm"));
  await slim.init("https://example.org/core_bg.wasm");
  await slim.init(new URL("https://example.org/core_bg.wasm"));
  await slim.init(fetch("https://example.org/core_bg.wasm"));
  // @ts-expect-error saying nothing starts nothing
  slim.initSync();
  // @ts-expect-error a number is no module
  await slim.init(1);
  // @ts-expect-error the root entry needs no start
  root.init;
  return text + same();
}
