import { maxAliasesRule } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthRule } from "@escape.tech/graphql-armor-max-depth";
import { maxDirectivesRule } from "@escape.tech/graphql-armor-max-directives";
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from "graphql";
import { BOUNDS } from "./request.ts";

/**
 * The rules that only look at the shape run first: those of the language take quadratic time on documents that these
 * refuse.
 */
const SHAPE = [
  maxDepthRule({ n: BOUNDS.depth, flattenFragments: true }),
  maxAliasesRule({ n: BOUNDS.aliases, allowList: [] }),
  maxDirectivesRule({ n: BOUNDS.directives }),
  NoFragmentCyclesRule,
];

/** Reads and validates a document within the bounds; throws a GraphQLError, or returns those that validation found. */
export function readDocument(schema: GraphQLSchema, text: string): DocumentNode | readonly GraphQLError[] {
  const document = parse(text, { maxTokens: BOUNDS.tokens });
  for (const rules of [SHAPE, specifiedRules]) {
    const errors = validate(schema, document, rules, { maxErrors: 5 });
    if (errors.length > 0) return errors;
  }
  return document;
}

/**
 * Throws a GraphQLError for an operation over the bound on cost. A field costs 1, or what its `cost` extension says; a
 * list multiplies what is selected within by the size of its page.
 */
export function assertAffordable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): void {
  const root = schema.getRootType(operation.operation);
  if (root == null) throw new GraphQLError("Only queries are served.");
  const fragments = new Map(
    document.definitions.flatMap((node): [string, FragmentDefinitionNode][] =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [],
    ),
  );
  const known = new Map<string, number>();
  const costOf = (set: SelectionSetNode, type: GraphQLObjectType): number =>
    set.selections.reduce((sum, node) => sum + costOfNode(node, type), 0);
  const costOfNode = (node: SelectionSetNode["selections"][number], type: GraphQLObjectType): number => {
    if (node.kind === Kind.INLINE_FRAGMENT) return costOf(node.selectionSet, type);
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const { value: name } = node.name;
      const fragment = fragments.get(name);
      if (!known.has(name)) known.set(name, fragment === undefined ? 0 : costOf(fragment.selectionSet, type));
      return known.get(name) ?? 0;
    }
    const field = type.getFields()[node.name.value];
    // What every type has: __typename, and on the root __schema and __type.
    if (field === undefined) return 1;
    const { pageSize } = getArgumentValues(field, node, variables);
    const { cost } = field.extensions;
    const inner = getNamedType(field.type);
    const within = node.selectionSet !== undefined && isObjectType(inner) ? costOf(node.selectionSet, inner) : 0;
    return numberOr1(cost) + Math.max(1, numberOr1(pageSize)) * within;
  };
  const cost = costOf(operation.selectionSet, root);
  if (cost > BOUNDS.cost) {
    throw new GraphQLError(
      `The operation costs ${cost}, over the limit of ${BOUNDS.cost}; take smaller pages or fewer fields.`,
    );
  }
}

const numberOr1 = (value: unknown): number => (typeof value === "number" ? value : 1);
