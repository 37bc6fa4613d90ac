import * as z from "zod";

const count = z.int();
const difference = z.number().min(-1).max(1);

/** The properties of an answer that compares two sides, `a` and `b`, task by task, as `paired` finds them. */
export const pairedShape = {
  wins: count.meta({
    description: "Tasks that a passes and b doesn't; a task is passed in more than half of its runs",
  }),
  losses: count.meta({ description: "Tasks that b passes and a doesn't" }),
  ties: count,
  mcnemar_p_value: z.number().min(0).max(1).meta({
    description: "Two-sided, by McNemar's exact test over wins and losses: how likely so uneven a count is by chance",
  }),
  difference: difference.nullable().meta({ description: "Success rate of a less that of b; null without a task" }),
  difference_low: difference.meta({ description: "95% interval, paired and clustered by task; -1 below two tasks" }),
  difference_high: difference.meta({ description: "1 below two tasks" }),
};

/** The success rate of one of two sides that are compared. */
export const sideRate = z.number().nullable().meta({ description: "Mean over the shared tasks; null without any" });

/** What the board marks of one of two agents that are compared: it qualifies how often they pass. */
export const sideMarks = {
  memorised: z.boolean().meta({ description: "Marked on the board: the published samples were learned by heart" }),
  uneven: z.boolean().meta({
    description: "Marked on the board: some tasks were asked more often than others, which keeps good luck",
  }),
};
