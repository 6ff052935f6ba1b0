// The settings of a page that nobody has set: those that the library has by default.

/** How the manager is made. */
export interface Settings {
  /** Each prompt goes on with the one before, as in the loop of an agent. */
  readonly running: boolean;
  /** Sensitive items show as placeholders instead of not at all. */
  readonly redact: boolean;
  /** What the user said once and for all stands in every prompt. */
  readonly rules: boolean;
}

export const DEFAULTS: Settings = { running: false, redact: false, rules: true };
