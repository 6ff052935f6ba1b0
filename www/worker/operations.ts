// What the page can ask of the worker, and how questions and answers travel.
import * as context from "./context.ts";
import * as mcp from "./mcp.ts";
import type { Problem } from "./text.ts";
import * as tools from "./tools.ts";

/** What the page can ask for. */
export const operations = { ...context.operations, ...tools.operations, ...mcp.operations };
export type Operations = typeof operations;
export type Name = keyof Operations;

export interface Question {
  readonly id: number;
  readonly name: Name;
  readonly args: unknown;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly problem: Problem };
