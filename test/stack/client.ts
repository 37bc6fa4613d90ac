import type { TestService } from "./service.ts";

/** An answer of the service, its JSON parsed. */
export interface Answer<T = Record<string, never>> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
}

/** A caller of the service: anonymous, or with the credentials it was made with. */
export interface Caller {
  // Tests name the shape they expect; the contract tests hold answers to their schemas.
  // oxlint-disable-next-line typescript/no-explicit-any
  call<T = any>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
}

/** A signed-in caller. */
export interface User extends Caller {
  id: string;
  email: string;
  token: string;
}

/** A caller that sends `headers` with every request. */
export function caller({ url }: Pick<TestService, "url">, headers: Record<string, string> = {}): Caller {
  return {
    async call(method, path, body, more = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers, ...more },
        body: body === undefined ? null : isRaw(body) ? body : JSON.stringify(body),
        redirect: "manual",
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: parse(text) };
    },
  };
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === "string" || body instanceof Uint8Array;

function parse(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch {
    return undefined as never;
  }
}

let strangers = 0;

/** A caller from an address that nobody else has, with more headers if there are any. */
export function stranger(service: Pick<TestService, "url">, headers: Record<string, string> = {}): Caller {
  strangers += 1;
  return caller(service, { ...headers, "cf-connecting-ip": `172.24.${strangers >> 8}.${strangers & 255}` });
}

let users = 0;

/** Registers an account from an address of its own, so that no limit is shared, and signs it in. */
export async function newUser(
  service: Pick<TestService, "url" | "sql">,
  options: { plan?: "free" | "pro" | "team" | "enterprise"; email?: string; verified?: boolean } = {},
): Promise<User> {
  users += 1;
  const email = options.email ?? `user${users}@example.test`;
  const address = { "cf-connecting-ip": `10.${(users >> 16) & 255}.${(users >> 8) & 255}.${users & 255}` };
  const answer = await caller(service, address).call("POST", "/api/v1/auth/register", { email, password: PASSWORD });
  if (answer.status !== 201) throw new Error(`register: ${answer.text}`);
  const { access_token: token, user } = answer.body;
  if (options.plan !== undefined)
    await service.sql("update users set plan = $1 where id = $2", [options.plan, user.id]);
  if (options.verified === true) await service.sql("update users set email_verified = true where id = $1", [user.id]);
  return { id: user.id, email, token, ...caller(service, { authorization: `Bearer ${token}`, ...address }) };
}

/** The password of every account that tests make. */
export const PASSWORD = "correct horse battery";
