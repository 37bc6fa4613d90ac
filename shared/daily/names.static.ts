import { DAILY_ITEMS } from "./items.ts";

/** The names of all that is done once a day, for who tells of it without doing it. */
export const DAILY_NAMES = DAILY_ITEMS.map(({ name }) => name);
