import { gzipSync } from "node:zlib";
import { PASSWORD, type User } from "./client.ts";
import { cookiesOf } from "./cookies.ts";
import type { TestService } from "./service.ts";

/** A form as it stands on a page: where it is sent, and its fields with what they hold. */
export interface FoundForm {
  action: string;
  method: string;
  /** Its buttons by what they say, each with what it sends besides the fields. */
  buttons: Record<string, Record<string, string>>;
  fields: Record<string, string>;
  /** What a browser sends of it as it stands: one name may come several times. */
  sent: [name: string, value: string][];
  /** The names of the fields that a person sees. */
  shown: string[];
}

/** A page as a browser without scripts has it. */
export interface Page {
  status: number;
  url: URL;
  headers: Headers;
  html: string;
  heading: string;
  /** What a screen reader reads out at once. */
  alerts: string[];
  forms: FoundForm[];
  links: { text: string; href: string }[];
  /** What is wrong with each field, by its name. */
  wrong: Record<string, string>;
}

/** Somebody with a browser without scripts: it keeps cookies, follows redirects, and sends forms as they stand. */
export interface Visitor {
  open(path: string): Promise<Page>;
  /** Comes to the page by a link on another site: as a browser tells of every redirect that follows. */
  arrive(path: string): Promise<Page>;
  /** Sends the form with this button, `typed` in its fields; throws where the page has no such form or field. */
  send(page: Page, button: string, typed?: Record<string, string>): Promise<Page>;
  /** Follows the link with this text. */
  follow(page: Page, text: string): Promise<Page>;
  /** The value of each cookie that is kept, by name. */
  cookies(): Record<string, string>;
  /** Drops a cookie, as time does. */
  forget(name: string): void;
  /** Another page of the same browser: with copies of its cookies as they are now. */
  beside(): Visitor;
}

interface Kept {
  value: string;
  path: string;
}

/** Typed into a box, it unticks it. */
export const UNTICKED = "\0unticked";
const MAX_REDIRECTS = 20;
const MAX_KB = 40;
let visitors = 0;

/** A visitor from an address of its own. */
export function newVisitor(service: Pick<TestService, "url">): Visitor {
  visitors += 1;
  return visitorAt(service, `10.201.${visitors >> 8}.${visitors & 255}`, new Map());
}

/** A visitor who is signed in to this account, by the page. */
export async function visitorOf(service: Pick<TestService, "url">, { email }: Pick<User, "email">): Promise<Visitor> {
  const visitor = newVisitor(service);
  await visitor.send(await visitor.open("/sign-in"), "Sign in", { email, password: PASSWORD });
  return visitor;
}

function visitorAt({ url: base }: Pick<TestService, "url">, address: string, jar: Map<string, Kept>): Visitor {
  function cookieFor(path: string): string {
    const fits = ([, { path: own }]: [string, Kept]) =>
      path === own || path.startsWith(own.endsWith("/") ? own : `${own}/`);
    return [...jar]
      .filter(fits)
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
  }

  function keep(answer: Response): void {
    for (const [name, { value, attributes }] of Object.entries(cookiesOf(answer))) {
      const of = (key: string) => attributes.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1);
      if (of("Max-Age") === "0") jar.delete(name);
      else jar.set(name, { value, path: of("Path") ?? "/" });
    }
  }

  async function go(first: URL, sent: { body: string; origin: string } | null, site = "same-origin"): Promise<Page> {
    let [url, form] = [first, sent];
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const cookie = cookieFor(url.pathname);
      const answer = await fetch(url, {
        method: form === null ? "GET" : "POST",
        redirect: "manual",
        body: form?.body ?? null,
        headers: {
          accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
          "cf-connecting-ip": address,
          "sec-fetch-site": site,
          "user-agent": "Visitor/1.0",
          ...(cookie === "" ? {} : { cookie }),
          ...(form === null ? {} : { origin: form.origin, "content-type": "application/x-www-form-urlencoded" }),
        },
      });
      keep(answer);
      const location = answer.headers.get("location");
      if (location === null) return pageOf(url, answer, await answer.text());
      await answer.body?.cancel();
      if (answer.status !== 307) form = null;
      url = new URL(location, url);
    }
    throw new Error(`${first.pathname} redirects over ${MAX_REDIRECTS} times`);
  }

  return {
    open: (path) => go(new URL(path, base), null),
    arrive: (path) => go(new URL(path, base), null, "cross-site"),
    send(page, button, typed = {}) {
      const form = page.forms.find((one) => Object.hasOwn(one.buttons, button));
      if (form === undefined) throw new Error(`"${page.heading}" has no form with the button "${button}"`);
      const strange = Object.keys(typed).filter((name) => !form.shown.includes(name));
      if (strange.length > 0) throw new Error(`"${button}" has no field ${strange.join(", ")}`);
      // A page that keeps even its site to itself has its forms sent without an origin.
      const origin = page.headers.get("referrer-policy") === "no-referrer" ? "null" : new URL(base).origin;
      const values = new URLSearchParams([
        ...form.sent.filter(([name]) => !Object.hasOwn(typed, name)),
        ...Object.entries(typed).filter(([, value]) => value !== UNTICKED),
        ...Object.entries(form.buttons[button] ?? {}),
      ]);
      return go(new URL(form.action, page.url), { body: values.toString(), origin });
    },
    follow(page, text) {
      const link = page.links.find((one) => one.text === text);
      if (link === undefined) throw new Error(`"${page.heading}" has no link "${text}"`);
      return go(new URL(link.href, page.url), null);
    },
    cookies: () => Object.fromEntries([...jar].map(([name, { value }]) => [name, value])),
    forget: (name) => void jar.delete(name),
    beside: () => visitorAt({ url: base }, address, new Map(jar)),
  };
}

function pageOf(url: URL, { status, headers }: Response, html: string): Page {
  if (headers.get("content-type")?.startsWith("text/html") === true) assertSound(url, headers, html);
  const main = /<main[\s>][\s\S]*<\/main>/.exec(html)?.[0] ?? html;
  return {
    status,
    url,
    headers,
    html,
    heading: textOf(/<h1[^>]*>([\s\S]*?)<\/h1>/.exec(html)?.[1] ?? ""),
    alerts: [...main.matchAll(/<(\w+)[^>]* role="alert"[^>]*>([\s\S]*?)<\/\1>/g)].map(([, , inner = ""]) =>
      textOf(inner),
    ),
    forms: [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, tag = "", inner = ""]) =>
      formOf(tag, inner),
    ),
    links: [...html.matchAll(/<a\b([^>]*)>([\s\S]*?)<\/a>/g)].map(([, tag = "", inner = ""]) => ({
      text: textOf(inner),
      href: attribute(tag, "href") ?? "",
    })),
    wrong: Object.fromEntries(
      [...main.matchAll(/<p class="error" id="([^"]+)-error">([\s\S]*?)<\/p>/g)].map(([, name = "", inner = ""]) => [
        name,
        textOf(inner),
      ]),
    ),
  };
}

/** What holds for every page: a strict policy, nothing inline beside its hash, and no more than it may weigh. */
function assertSound(url: URL, headers: Headers, html: string): void {
  const policy = headers.get("content-security-policy") ?? "";
  const at = url.pathname;
  const held = ["default-src 'none'", "require-trusted-types-for 'script'"].every((one) => policy.includes(one));
  if (!held || policy.includes("unsafe-")) throw new Error(`${at}: policy ${policy}`);
  if (/\sstyle="|\son\w+="|<script(?![^>]* src=)/.test(html) && at !== "/docs")
    throw new Error(`${at}: something inline`);
  if (headers.get("referrer-policy") === null) throw new Error(`${at}: no Referrer-Policy`);
  const size = gzipSync(html).length / 1024;
  if (size > MAX_KB) throw new Error(`${at}: ${size.toFixed(0)} KB`);
}

function formOf(tag: string, inner: string): FoundForm {
  const sent: [string, string][] = [];
  const shown: string[] = [];
  for (const [, attributes = ""] of inner.matchAll(/<input\b([^>]*)>/g)) {
    const name = attribute(attributes, "name");
    if (name === null) continue;
    const type = attribute(attributes, "type");
    const ticked = type !== "checkbox" || /\schecked(?:="[^"]*")?(?=[\s/]|$)/.test(attributes);
    if (ticked) sent.push([name, attribute(attributes, "value") ?? ""]);
    if (type !== "hidden") shown.push(name);
  }
  for (const [, attributes = "", text = ""] of inner.matchAll(/<textarea\b([^>]*)>([\s\S]*?)<\/textarea>/g)) {
    const name = attribute(attributes, "name") ?? "";
    // As a browser: the first line break after the tag is none of the text.
    sent.push([name, decoded(text.replace(/^\r?\n/, ""))]);
    shown.push(name);
  }
  for (const [, attributes = "", options = ""] of inner.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/g)) {
    const name = attribute(attributes, "name") ?? "";
    const all = [...options.matchAll(/<option\b([^>]*)>/g)].map(([, option = ""]) => option);
    sent.push([name, attribute(all.find((one) => /\sselected/.test(one)) ?? all[0] ?? "", "value") ?? ""]);
    shown.push(name);
  }
  return {
    action: attribute(tag, "action") ?? "",
    method: attribute(tag, "method") ?? "get",
    buttons: Object.fromEntries(
      [...inner.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/g)].map(([, attributes = "", text = ""]) => {
        const name = attribute(attributes, "name");
        return [textOf(text), name === null ? {} : { [name]: attribute(attributes, "value") ?? "" }];
      }),
    ),
    fields: Object.fromEntries(sent),
    sent,
    shown,
  };
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(` ${tag}`)?.[1];
  return value === undefined ? null : decoded(value);
}

function textOf(html: string): string {
  return decoded(html.replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ (?=[.,:;!?])/g, "")
    .trim();
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

function decoded(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_all, name: string) => ENTITIES[name] ?? "");
}
