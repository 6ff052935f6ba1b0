// Names of tools by pattern.

/**
 * Tells whether a name fits a pattern: `*` stands for any characters, `?` for one. Case counts. Takes at most as many steps as the
 * product of both lengths. @internal
 */
export function fitsGlob(pattern: string, name: string): boolean {
  let [at, place] = [0, 0];
  let [star, resume] = [-1, 0];
  while (at < name.length) {
    const wanted = pattern[place];
    if (wanted === "*") {
      [star, resume] = [place, at];
      place += 1;
    } else if (wanted !== undefined && (wanted === "?" || wanted === name[at])) {
      at += 1;
      place += 1;
    } else if (star !== -1) {
      // The last star takes one character more.
      resume += 1;
      [at, place] = [resume, star + 1];
    } else {
      return false;
    }
  }
  while (pattern[place] === "*") place += 1;
  return place === pattern.length;
}
