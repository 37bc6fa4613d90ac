import { configureGlobal, readConfigureGlobal } from "fast-check";

/**
 * Properties draw the same values in every run, so that a change is judged by what it changed and not by a draw;
 * `PROPERTY_SEED=random` draws others (the seed stands in a failure's text), and a number repeats that failure.
 */
const seed = process.env["PROPERTY_SEED"] ?? "20261122";

if (seed !== "random") configureGlobal({ ...readConfigureGlobal(), seed: Number(seed) });
