// Compiled, never run: what a strict consumer of the package writes.
import * as root from "contextweaver";
import * as slim from "contextweaver/slim";

const text: string = root.version();
const same: typeof root.version = slim.version;

export async function start(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  slim.initSync({ core: bytes });
  slim.initSync({ core: bytes, routing: bytes, convert: bytes });
  slim.initSync({ core: undefined, routing: bytes });
  await slim.init({ core: bytes });
  await slim.init({ routing: fetch("https://example.org/routing_bg.wasm") });
  await slim.init({ core: "https://example.org/core_bg.wasm" });
  await slim.init({ core: new URL("https://example.org/core_bg.wasm") });
  await slim.init({ core: fetch("https://example.org/core_bg.wasm") });
  // @ts-expect-error saying nothing starts nothing
  slim.initSync();
  // @ts-expect-error a number is no module
  await slim.init({ core: 1 });
  // @ts-expect-error the root entry needs no start
  root.init;
  return text + same();
}
