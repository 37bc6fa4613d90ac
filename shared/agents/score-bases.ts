/** The runs that a score comes from: those of the core suite, or whatever has been scored so far. */
export const SCORE_BASES = ["core", "provisional"] as const;
