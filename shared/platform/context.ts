import type { SQL } from "drizzle-orm";
import type { NeonHttpDatabase } from "drizzle-orm/neon-http";
import type { Env } from "./env.ts";
import type { Gathering } from "./gathering.ts";
import type { SigningKeys } from "./keys.ts";
import type { Leases } from "./leases.ts";
import type { Logger } from "./log.ts";
import type { Message, Publisher } from "./message.ts";
import type { DnsResolver } from "./outbound/resolve.ts";
import type { RedisCommands } from "./redis.ts";
import type { Steps } from "./steps.ts";
import type { Streams } from "./streams.ts";
import type { Turns } from "./turns.ts";

/** The database over HTTP: each `execute` or `batch` is one round trip; there are no interactive transactions. */
export type Database = NeonHttpDatabase;

/** The Idempotency-Key of a request: whose it is, and what the first request with it looked like. */
export interface Idempotency {
  caller: string;
  /** The caller's name of the day before, if it was a different one: at most one. */
  callerBefore?: readonly string[];
  key: string;
  fingerprint: string;
  /** Set when the kept result of the first request was returned again. */
  replayed: boolean;
}

/** A condition that the first statement which reads decides as well: it costs no round trip of its own. */
export interface Question {
  condition: SQL;
  /** What was found; null until it is asked. */
  found: Promise<boolean> | null;
}

/** What hashing a password by scrypt takes (RFC 7914): N must be a power of two. */
export interface PasswordCost {
  N: number;
  r: number;
  p: number;
}

/** What a verb of the domain works with: everything outside the process, and the clock. */
export interface Context {
  env: Env;
  db: Database;
  redis: RedisCommands;
  queue: Publisher;
  keys(): Promise<SigningKeys>;
  /** The service's clock. Leases use the database's. */
  now(): Date;
  /** Milliseconds by that clock that a request waited to be admitted before its body was read: the service's own time. */
  admissionMs: number;
  requestId: string;
  /** The caller's address (its /64 for IPv6) under the secret of the day, for limits; null inside the queue's consumers. */
  addressHash: string | null;
  /** The same under the secret of the day before, so that limits and kept answers from then still hold. */
  addressHashBefore: string | null;
  /** The network that the caller's address is in, to be stored as a keyed hash alone; null inside the queue's consumers. */
  network: (() => string) | null;
  idempotency: Idempotency | null;
  /** What is still to be asked about the caller, if anything. */
  question: Question | null;
  /** The OpenAPI document of the whole service, at the service's own address, as JSON. */
  openApi(): Promise<string>;
  /** What passwords are hashed with from now on. */
  passwordCost: PasswordCost;
  log: Logger;
  /** What this isolate may still let through without asking Redis. */
  leases: Leases;
  /** The event streams that are open in this isolate. */
  streams: Streams;
  /** The runs that this isolate carries out side by side. */
  calls: Turns;
  /** Messages about answered runs that this isolate scores in groups. */
  scoring: Gathering<Message>;
  /** The steps of this isolate's work on runs: minting one, or grading and signing it. */
  steps: Steps;
  /** Drops answers kept in this isolate that depend on what a verb changed. */
  cache: { invalidate(tag: "catalogue" | "board"): void };
  /** Runs after the answer has been sent; a failure is only logged. */
  defer(work: () => Promise<unknown>): void;
  fetch: typeof fetch;
  resolver: DnsResolver;
}
