/** Cuts of a session of which it is told what left. */
export const MAX_CUTS = 60;
