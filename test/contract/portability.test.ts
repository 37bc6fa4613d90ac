import { PgDialect } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { partsOf } from "../../shared/portability/parts.ts";
import { personal } from "./personal.ts";
import { sealedService } from "./sealed.ts";

const ID = "01938e7a-0000-7000-8000-000000000003";

/** Columns that refer to an account, or name a person, and by which the export finds nothing, each with its reason. */
const LEFT_OUT: Record<string, string> = {
  "allowances.owner": "counts, of which the profile has the account's",
  "billing_customers.user_id": "ids at the payment provider; the profile has the plan, the provider's portal the rest",
  "device_authorizations.user_id": "hashes of codes that live for minutes; the key that comes of one is exported",
  "email_tokens.email": "a hash of a token, with the account's own address",
  "email_tokens.user_id": "a hash of a token: a secret",
  "idempotency_keys.caller": "answers that are kept for a day, of things that are exported themselves",
  "notices.user_id": "that a mail was sent, so that it is sent once",
  "purchases.seller_id": "a sale is told by its revenue; before it is paid, it is its buyer's alone",
  "runs.paid_owner": "whose allowance a run was counted to, by its hash or id; the run itself is exported",
  "screening_schedules.user_id": "schedules are found by their agents, as they are listed",
  "seller_accounts.user_id": "an id at the payment provider; the profile has what the account may do there",
  "sign_in_marks.user_id": "keyed hashes, which nobody can read",
  "task_submissions.reviewer_id": "an operator's decision about what is somebody else's",
  "team_invitations.email": "the workspace's; whoever is invited has the mail",
  "team_invitations.invited_by": "the workspace's",
  "teams.owner_id": "its owner is among its members, by whom workspaces are found",
  "totp_factors.user_id": "a secret; second-factor.json tells how it stands",
  "users.email": "profile.json",
  "waitlist_entries.email": "typed without an account: nobody showed that the address was theirs",
};

/** Each column that refers to an account or names a person. */
const columns = personal.flatMap(({ name, because }) => because.map((column) => `${name}.${column}`));

const dialect = new PgDialect();
const { context } = await sealedService();

/** The columns, as `table.column`, by whose equality to a parameter a part finds its rows. */
const finding = Object.values(partsOf(context(), { userId: ID, sessionId: ID })).flatMap(({ from, under }) =>
  [from, ...(under === undefined ? [] : [under.ids(ID, 1)])].flatMap((part) => {
    const { sql: text } = dialect.sqlToQuery(part);
    return [...text.matchAll(/"(\w+)" (\w+)\b/g)].flatMap(([, table, alias]) =>
      [...text.matchAll(new RegExp(`\\b${alias}\\.(\\w+) = (?:any \\(array\\(select )?\\$`, "g"))].map(
        ([, column]) => `${table}.${column}`,
      ),
    );
  }),
);

test("the export of an account has what every column finds that refers to one, or it is said why not", () => {
  expect(columns.length).toBeGreaterThan(25);
  expect(columns.filter((column) => !finding.includes(column) && LEFT_OUT[column] === undefined)).toEqual([]);
});

test("nothing is said to be left out that is exported, or is not there any more", () => {
  const wrong = Object.keys(LEFT_OUT).filter((column) => !columns.includes(column) || finding.includes(column));
  expect(wrong).toEqual([]);
});
