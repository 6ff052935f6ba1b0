// The lines of `debug`: a line for each step, call or request. They name items and tools and never quote what was said.
import { quietly } from "./quietly.js";

/** `true` writes a line for each step to standard error, in browsers and Workers to `console.debug`; a function is called with each. */
export type Debug = boolean | ((line: string) => void);

interface Host {
  readonly process?: { readonly versions?: { readonly node?: string } };
  readonly navigator?: { readonly userAgent?: string };
}

/**
 * Where lines go; undefined where nobody wants them. What a function of the caller's throws is dropped: a line disturbs nothing. Clients
 * and models choose names: none of them makes a second line, or steers a terminal.
 */
export function lineWriter(given: Debug | undefined): ((line: string) => void) | undefined {
  if (given === undefined || given === false) return undefined;
  const write = typeof given === "function" ? given : toConsole;
  return (line) => quietly(() => write(line.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, "\ufffd")));
}

function toConsole(line: string): void {
  const { process, navigator } = globalThis as Host;
  // Workers have a `process` of Node's, but no standard error.
  const hasStderr = process?.versions?.node !== undefined && navigator?.userAgent !== "Cloudflare-Workers";
  if (hasStderr) console.error(`contextweaver: ${line}`);
  else console.debug(`contextweaver: ${line}`);
}

/** Whether an option is one of `debug`. */
export function isDebug(given: unknown): boolean {
  return given === undefined || typeof given === "boolean" || typeof given === "function";
}

/** A number as people read it. */
export function figure(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
