/** Where a page leads whoever wonders what a score says. */
export const SCORE_GUIDE = "/docs/guides/the-score";
/** Where a page leads whoever has to make an endpoint answer. */
export const AGENT_GUIDE = "/docs/guides/write-an-agent";
