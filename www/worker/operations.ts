// What the page can ask of the worker, and how questions and answers travel.
import * as context from "./context.ts";
import * as decisions from "./decisions.ts";
import * as gateway from "./gateway.ts";
import * as mcp from "./mcp.ts";
import * as session from "./session.ts";
import type { Problem } from "./text.ts";
import * as tools from "./tools.ts";

/** What the page can ask for. */
export const operations = {
  ...session.operations,
  ...context.operations,
  ...tools.operations,
  ...gateway.operations,
  ...mcp.operations,
  ...decisions.operations,
};
export type Operations = typeof operations;
export type Name = keyof Operations;

/** The modules of the package that the page uses. */
export type ModuleName = "agent" | "routing" | "decisions" | "gateway";

/** What has to be there before an operation can run: the texts of all of them are cleaned by the first. */
export function needs(name: Name): readonly ModuleName[] {
  if (name.startsWith("tools.")) return ["agent", "routing"];
  if (name.startsWith("gateway.")) return ["agent", "routing", "gateway"];
  if (name.startsWith("decisions.")) return ["agent", "decisions"];
  return ["agent"];
}

export interface Question {
  readonly id: number;
  readonly name: Name;
  readonly args: unknown;
}

/** How much of the modules has come. */
export interface Progress {
  readonly loaded: number;
  readonly total: number;
}

export type Answer =
  | { readonly progress: Progress }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly problem: Problem };
