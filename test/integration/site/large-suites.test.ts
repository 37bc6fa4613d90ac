import { afterAll, beforeAll, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, visitorOf } from "../../stack/visitor.ts";
import { addSuite, growSuite, type TestSuite } from "../runs/support.ts";

const SIZE = 1050;

let service: TestService;
let operator: User;
let large: TestSuite;
let small: TestSuite;

beforeAll(async () => {
  service = await startService();
  operator = await newUser(service, { email: "admin@example.test", verified: true });
  large = await addSuite(service, 1, { slug: "large" });
  small = await addSuite(service, 3, { slug: "small" });
  await growSuite(service, large, SIZE);
});

afterAll(() => service.stop());

const tasksOf = ({ links }: Page) => links.flatMap(({ href }) => (href.startsWith("/tasks/") ? [href.slice(7)] : []));

it("the page of a suite reads no tasks of others, however many there are", async () => {
  service.counters.reset();
  const page = await newVisitor(service).open("/suites/small");
  expect(tasksOf(page)).toEqual(small.tasks);
  expect(service.counters.db.statements).toBeLessThanOrEqual(3);
});

it.each([
  ["everybody", () => newVisitor(service), "/suites/large"],
  ["operators", () => visitorOf(service, operator), "/admin/suites/large"],
])("a large one is shown to %s page by page, and has each task once", async (_whom, visitor, path) => {
  const by = await visitor();
  let page = await by.open(path);
  const found = tasksOf(page);
  service.counters.reset();
  for (let at = 2; at <= Math.ceil(SIZE / 100); at += 1) {
    page = await by.follow(page, "next");
    expect(tasksOf(page).length).toBeLessThanOrEqual(100);
    found.push(...tasksOf(page));
  }
  expect(service.counters.db.statements).toBeLessThanOrEqual(4 * (SIZE / 100));
  expect(page.links.filter(({ text }) => text === "next")).toEqual([]);
  expect([found.length, new Set(found).size]).toEqual([SIZE, SIZE]);
});

it("an operator retires a task of a later page", async () => {
  const by = await visitorOf(service, operator);
  const page = await by.open("/admin/suites/large?page=11");
  const asked = await by.open(page.links.find(({ href }) => href.includes("retire="))?.href ?? "");
  const { status } = await by.send(asked, "Retire it for good");
  expect(status).toBe(200);
  expect(await service.sql("select from tasks where suite_id = $1 and not is_active", [large.id])).toHaveLength(1);
});
