import type { Consumer } from "../shared/queue/consumer.ts";
import type { Delivery } from "../shared/queue/publish.ts";
import { analyticsConsumer } from "./analytics.ts";
import { announceConsumer } from "./announce.ts";
import { cancelBillingConsumer } from "./cancel-billing.ts";
import { certifyConsumer } from "./certify.ts";
import { dailyConsumer } from "./daily.ts";
import { deliverConsumer } from "./deliver.ts";
import { dispatchConsumer } from "./dispatch.ts";
import { expireConsumer } from "./expire.ts";
import { mailConsumer } from "./mail.ts";
import { recheckConsumer } from "./recheck.ts";
import { regressionConsumer } from "./regression.ts";
import { scheduleConsumer } from "./schedule.ts";
import { scoreConsumer } from "./score.ts";

/** Every consumer there is. */
export const CONSUMERS: readonly Consumer[] = [
  dispatchConsumer,
  scoreConsumer,
  expireConsumer,
  mailConsumer,
  analyticsConsumer,
  recheckConsumer,
  announceConsumer,
  deliverConsumer,
  scheduleConsumer,
  regressionConsumer,
  certifyConsumer,
  cancelBillingConsumer,
  dailyConsumer,
];

/** How each consumer wants its messages sent. */
export const DELIVERIES: ReadonlyMap<string, Delivery> = new Map(
  CONSUMERS.map((consumer) => [consumer.name, consumer]),
);
