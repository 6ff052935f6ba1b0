// Compiled, never run: what a strict consumer of the package writes.
import * as root from "contextweaver";
import * as slim from "contextweaver/slim";

const text: string = root.version();
const same: typeof root.version = slim.version;

export async function start(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  slim.initSync({ agent: bytes });
  slim.initSync({ agent: bytes, routing: bytes, decisions: bytes });
  slim.initSync({ agent: undefined, routing: bytes });
  await slim.init({ agent: bytes });
  await slim.init({ routing: fetch("https://example.org/routing_bg.wasm") });
  await slim.init({ agent: "https://example.org/agent_bg.wasm" });
  await slim.init({ agent: new URL("https://example.org/agent_bg.wasm") });
  await slim.init({ agent: fetch("https://example.org/agent_bg.wasm") });
  // @ts-expect-error saying nothing starts nothing
  slim.initSync();
  // @ts-expect-error a number is no module
  await slim.init({ agent: 1 });
  // @ts-expect-error the root entry needs no start
  root.init;
  return text + same();
}
