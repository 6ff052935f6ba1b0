// The settings of a page that nobody has set: those that the library has by default.
import type { Settings } from "./log.ts";

export const DEFAULTS: Settings = { running: false, redact: false, rules: true };
