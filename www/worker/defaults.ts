// The settings of a page that nobody has set: a transcript is shown as it came, so nothing is kept that the library would keep by default.
import type { Settings } from "./log.ts";

export const DEFAULTS: Settings = { firewall: false, running: false, redact: false, rules: false };
