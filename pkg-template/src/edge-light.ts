// The entry for Vercel's edge runtime, whose bundler marks compiled modules with `?module`.
import convertModule from "./convert_bg.wasm?module";
import coreModule from "./core_bg.wasm?module";
import decisionsModule from "./decisions_bg.wasm?module";
import { convert, core, decisions, routing } from "./engines.js";
import routingModule from "./routing_bg.wasm?module";

core.offer(() => coreModule);
routing.offer(() => routingModule);
convert.offer(() => convertModule);
decisions.offer(() => decisionsModule);

export * from "./api.js";
