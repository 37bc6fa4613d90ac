import { type GraphQLResolveInfo, type GraphQLSchema, Kind, type SelectionSetNode } from "graphql";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { listAgentsWith } from "../../shared/agents/list.ts";
import { readAgentWith } from "../../shared/agents/read.ts";
import { NOTHING_MORE } from "../../shared/agents/view.ts";
import { listSuites, listTasks, readTask } from "../../shared/catalogue/reads.ts";
import { type PageQuery, paged, pageQuery } from "../../shared/http/paging.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { readBoard } from "../../shared/board/board.ts";
import { boardQuery, LeaderboardRow } from "../../shared/board/shown.ts";
import { readFrontier } from "../../shared/board/frontier.ts";
import { statsJson } from "../../shared/results/stats.ts";
import { builder, type Caller, Domain } from "./builder.ts";
import {
  AgentPage,
  AgentType,
  FrontierType,
  LeaderboardPage,
  RecordedAgent,
  SuiteType,
  TaskPage,
  TaskType,
} from "./types.ts";

/** More suites than exist: GraphQL lists them without pages. */
const ALL_SUITES = { page: 1, page_size: 100 };

/** The variant group is read with all of its scored runs. */
const FRONTIER_COST = 100;

function valid<S extends z.ZodType>(schema: S, name: string, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Problem("validation_failed", `${name}: ${result.error.issues[0]?.message}`);
}

const id = (name: string, value: unknown): string => valid(z.uuid(), name, value);

function pageOf({ page, pageSize }: { page?: unknown; pageSize?: unknown }): PageQuery {
  const { shape } = pageQuery;
  return { page: valid(shape.page, "page", page), page_size: valid(shape.page_size, "pageSize", pageSize) };
}

/** Whether the document selects a field of this name below the one being resolved. */
function selects({ fieldNodes, fragments }: GraphQLResolveInfo, name: string): boolean {
  const seen = new Set<string>();
  const within = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((node) => {
      if (node.kind === Kind.FIELD) return node.name.value === name || within(node.selectionSet);
      if (node.kind === Kind.INLINE_FRAGMENT) return within(node.selectionSet);
      const fragment = node.name.value;
      if (seen.has(fragment)) return false;
      seen.add(fragment);
      return within(fragments[fragment]?.selectionSet);
    }) ?? false;
  return fieldNodes.some(({ selectionSet }) => within(selectionSet));
}

/** The agent's record, read along with the agent where it is selected: on its own it would take another round trip. */
function record({ principal }: Caller, info: GraphQLResolveInfo): SQL {
  if (!selects(info, "stats")) return NOTHING_MORE;
  return sql`jsonb_build_object('stats', ${statsJson(principal)})`;
}

builder.queryType({
  fields: (t) => {
    const paging = { page: t.arg.int({ defaultValue: 1 }), pageSize: t.arg.int({ defaultValue: 20 }) };
    return {
      agent: t.field({
        type: AgentType,
        nullable: true,
        args: { id: t.arg.id({ required: true }) },
        resolve: (_root, args, caller, info) =>
          readAgentWith(caller.ctx, caller.principal, id("id", args.id), record(caller, info), RecordedAgent),
      }),
      agents: t.field({
        type: AgentPage,
        nullable: true,
        description: "Signed in: the caller's own active agents, of any visibility. Otherwise the public ones.",
        args: paging,
        async resolve(_root, args, caller, info) {
          const page = pageOf(args);
          const filter = { active_only: true, ...page };
          const { ctx, principal } = caller;
          const found = await listAgentsWith(ctx, principal, filter, record(caller, info), RecordedAgent);
          return paged(found, page);
        },
      }),
      leaderboard: t.field({
        type: LeaderboardPage,
        nullable: true,
        args: {
          verifiedOnly: t.arg.boolean({ defaultValue: false }),
          domain: t.arg({ type: Domain }),
          period: t.arg.string({ defaultValue: "all", description: "all, 30d or 7d" }),
          ...paging,
        },
        async resolve(_root, { verifiedOnly, domain, period, ...args }, { ctx }) {
          const page = pageOf(args);
          const query = {
            verified_only: verifiedOnly ?? false,
            domain: domain ?? undefined,
            period: valid(boardQuery.shape.period, "period", period ?? undefined),
          };
          const { items, total } = await readBoard(ctx, { ...query, ...page });
          return paged({ items: LeaderboardRow.array().parse(items), total }, page);
        },
      }),
      task: t.field({
        type: TaskType,
        nullable: true,
        args: { id: t.arg.id({ required: true }) },
        resolve: (_root, args, { ctx }) => readTask(ctx, id("id", args.id)),
      }),
      tasks: t.field({
        type: TaskPage,
        nullable: true,
        args: { domain: t.arg({ type: Domain }), ...paging },
        async resolve(_root, { domain, ...args }, { ctx }) {
          const page = pageOf(args);
          return paged(await listTasks(ctx, { domain: domain ?? undefined, ...page }), page);
        },
      }),
      suites: t.field({
        type: [SuiteType],
        nullable: true,
        resolve: async (_root, _args, { ctx }) => (await listSuites(ctx, ALL_SUITES)).items,
      }),
      frontier: t.field({
        type: FrontierType,
        nullable: true,
        args: { agentId: t.arg.id({ required: true }) },
        extensions: { cost: FRONTIER_COST },
        resolve: (_root, args, { ctx, principal }) => readFrontier(ctx, principal, id("agentId", args.agentId)),
      }),
    };
  },
});

let schema: GraphQLSchema | undefined;

/** The GraphQL schema. It is built at the first document, since most isolates never see one. */
export function graphqlSchema(): GraphQLSchema {
  return (schema ??= builder.toSchema());
}
