// Modules that exist only in the built package: `pkg-template/load` with the name filled in.

declare module "#agent" {
  export const engine: import("./engine.js").Engine<import("./engines.js").AgentGlue>;
}

declare module "#context" {
  export const engine: import("./engine.js").Engine<import("./engines.js").ContextGlue>;
}

declare module "#convert" {
  export const engine: import("./engine.js").Engine<import("./engines.js").ConvertGlue>;
}

declare module "#decisions" {
  export const engine: import("./engine.js").Engine<import("./engines.js").DecisionsGlue>;
}

declare module "#gateway" {
  export const engine: import("./engine.js").Engine<import("./engines.js").GatewayGlue>;
}

declare module "#routing" {
  export const engine: import("./engine.js").Engine<import("./engines.js").RoutingGlue>;
}

// Imported where a gateway runs, and read by shape (`gateway/sdk.ts`): the package compiles without the SDK.
declare module "@modelcontextprotocol/server";
declare module "@modelcontextprotocol/server/stdio";
declare module "@modelcontextprotocol/client";
declare module "@modelcontextprotocol/client/stdio";
