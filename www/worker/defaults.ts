// The settings of a page that nobody has set: what is an option of the library is as it is by default there.
import type { Settings } from "./log.ts";

export const DEFAULTS: Settings = { firewall: false, running: false, redact: false, rules: true };
