import type { SeedSuite } from "../types.ts";
import { archives } from "./archives.ts";
import { corpora } from "./corpora.ts";
import { orders } from "./orders.ts";
import { records } from "./records.ts";

/** Eighteen tasks on papers that correct, repeat and contradict one another. */
export const documents: SeedSuite = {
  slug: "documents",
  name: "Documents",
  description: "Facts from untidy papers, and answers with their sources from small collections of passages.",
  tasks: [...orders, ...records, ...corpora, ...archives],
};
