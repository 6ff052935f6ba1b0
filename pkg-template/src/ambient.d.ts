// Modules that exist only in the built package: `pkg-template/load` with the name filled in.

declare module "#agent" {
  export const engine: import("./boundary/engine.js").Engine<import("./boundary/engines.js").AgentGlue>;
}

declare module "#context" {
  export const engine: import("./boundary/engine.js").Engine<import("./boundary/engines.js").ContextGlue>;
}

declare module "#convert" {
  export const engine: import("./boundary/engine.js").Engine<import("./boundary/engines.js").ConvertGlue>;
}

declare module "#decisions" {
  export const engine: import("./boundary/engine.js").Engine<import("./boundary/engines.js").DecisionsGlue>;
}

declare module "#gateway" {
  export const engine: import("./boundary/engine.js").Engine<import("./boundary/engines.js").GatewayGlue>;
}

declare module "#routing" {
  export const engine: import("./boundary/engine.js").Engine<import("./boundary/engines.js").RoutingGlue>;
}

// Imported where a gateway runs, and read by shape (`gateway/sdk.ts`): the package compiles without the SDK.
declare module "@modelcontextprotocol/server";
declare module "@modelcontextprotocol/server/stdio";
declare module "@modelcontextprotocol/client";
declare module "@modelcontextprotocol/client/stdio";
