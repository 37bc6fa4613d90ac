export * from "./agents.ts";
export * from "./catalogue.ts";
export * from "./identity.ts";
export * from "./queue.ts";
export * from "./scoring.ts";
export * from "./screening.ts";
export * from "./telemetry.ts";
