// What errors ask of whatever module can answer.

/** What every module of the package can tell of what an error says. @internal */
export interface ErrorGlue {
  /** The text without its credentials. */
  mask_text(text: string): string;
  /** The place of the name that is meant, among names that are parted by NUL. */
  nearest_name(name: string, known: string): number | undefined;
}

/** A module that may be asked; nothing while it cannot be. @internal */
export interface Asked {
  ask<T>(run: (glue: ErrorGlue) => T): { readonly answer: T } | undefined;
}

/** Those that may be asked. @internal */
export const modules = new Set<Asked>();
let isAsking = false;

/** Asks the first module that can be. @internal */
export function asked<T>(run: (glue: ErrorGlue) => T): T | undefined {
  // A module that fails makes an error, too.
  if (isAsking) return undefined;
  isAsking = true;
  try {
    for (const one of modules) {
      const told = one.ask(run);
      if (told) return told.answer;
    }
    return undefined;
  } finally {
    isAsking = false;
  }
}
