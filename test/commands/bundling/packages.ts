import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";
import { PAYMENT_RESOURCES } from "../../../shared/billing/stripe.ts";
import { REDIS_COMMANDS } from "../../../shared/platform/redis.ts";

/** What WebAuthn's package has for attestations by certificates, a third of a megabyte with what it brings. */
const ATTESTATION =
  /@simplewebauthn\/server\/esm\/.*(?:defaultRootCerts\/|verifyAttestation(?:Android|Apple|FIDOU2F|TPM|WithMetadata)|validateCertificatePath|isCertRevoked|convertX509PublicKeyToCOSE|getCertificateInfo|mapX509SignatureAlgToCOSEAlg|metadataService|validateExtFIDOGenCEAAGUID)/;

/** What zod has to tell what a schema says. Documents alone ask for it, which are made when the service is built. */
const TOLD = /\/zod\/v4\/core\/(?:json-schema-processors|to-json-schema)\.js$/;

/** What a package's modules are replaced by, for those whose path fits. */
const REPLACED: readonly [path: RegExp, contents: (source: string, path: string) => string][] = [
  // None are asked for, and an answer that has one is refused as any other that is not good.
  [ATTESTATION, (source) => refusing(source, "attestations by certificates are not taken")],
  // A reader of all that ASN.1 can say, 90 KB, for the two integers of a signature.
  [/@simplewebauthn\/server\/esm\/.*\/unwrapEC2Signature\.js$/, withSignatureAlone],
  [/\/stripe\/esm\/resources\/.*\.js$/, (source, path) => (isAsked(path) ? source : hollow(source))],
  [/\/stripe\/esm\/StripeEventNotificationHandler\.js$/, hollow],
  // Pages are written here and never drawn again: what they take of this are two functions.
  [/\/hono\/dist\/jsx\/index\.js$/, () => 'export { cloneElement, isValidElement } from "./base.js";'],
  // No numbers of the limiter's are kept.
  [/@upstash\/core-analytics\/dist\/index\.js$/, () => "export class Analytics {}"],
  // What schemas refuse is told in the service's own words, by shared/platform/issue-text.ts.
  [/\/zod\/v4\/locales\/en\.js$/, () => "export default () => ({});"],
  [TOLD, (source) => refusing(source, "a Worker tells no schema")],
  // A Worker may not make code of text. Schemas that are made with their modules would try that out and prepare for it.
  [/\/zod\/v4\/core\/core\.js$/, (source) => `${source}\nglobalConfig.jitless = true;`],
  [/@neondatabase\/serverless\/index\.mjs$/, byHttpAlone],
  [/@upstash\/redis\/chunk-\w+\.mjs$/, (source) => withCommands(source, REDIS_COMMANDS)],
];

/** Leaves out of the packages what the Worker never runs: it would be uploaded, and much of it read at each start. */
export const packages: Plugin = {
  name: "packages",
  setup({ onLoad, onResolve, resolve }) {
    for (const [filter, contents] of REPLACED)
      onLoad({ filter }, ({ path }) => ({
        contents: contents(readFileSync(path, "utf8"), path.replaceAll("\\", "/")),
      }));
    // It says of itself nothing of the kind, and QStash's client has it for workflows.
    onResolve({ filter: /^neverthrow$/ }, async ({ path, pluginData, ...from }) =>
      pluginData === NEVERTHROW
        ? undefined
        : { ...(await resolve(path, { ...from, pluginData: NEVERTHROW })), sideEffects: false },
    );
  },
};

const NEVERTHROW = "neverthrow";

/** A module with the same exports: constants that are empty, and functions that throw. */
function refusing(source: string, why: string): string {
  const exported = source.matchAll(/^export (?:async )?(\w+) (\w+)/gm);
  const lines = [...exported].map(([, kind, name]) =>
    kind === "const" ? `export const ${name} = "";` : `export function ${name}() { throw new Error("${why}"); }`,
  );
  return lines.join("\n");
}

/** A module whose classes have nothing in them. */
function hollow(source: string): string {
  return Array.from(source.matchAll(/^export class (\w+)/gm), ([, name]) => `export class ${name} {}`).join("\n");
}

/** Whether a module of the payment provider's SDK is what the Worker asks for, by the client's own name for it. */
export function isAsked(path: string): boolean {
  const [, name = ""] = /\/resources\/(\w+)/.exec(path) ?? [];
  const asked: readonly string[] = PAYMENT_RESOURCES;
  return asked.includes(name.charAt(0).toLowerCase() + name.slice(1));
}

const SIGNATURE = fileURLToPath(new URL("../../../shared/identity/ecdsa-signature.ts", import.meta.url));

/** WebAuthn's module that takes signatures apart, with the service's own reader of them. */
function withSignatureAlone(source: string): string {
  const [all, parsed] = [/^import .* from '@peculiar\/.*$/gm, "AsnParser.parse(signature, ECDSASigValue)"];
  const kept = source.replaceAll(all, "").replace(parsed, "ecdsaSignature(signature)");
  if (kept.includes("@peculiar") || kept.includes(parsed)) throw new Error("WebAuthn reads signatures in another way");
  return `import { ecdsaSignature } from ${JSON.stringify(SIGNATURE)};\n${kept}`;
}

/**
 * What Neon's driver, which comes as one minified module, has beyond statements by HTTP, and what stands there instead: all
 * that speaks to the database over a socket, node-postgres with what it brings, and what takes the place of Node's `Buffer`,
 * events and hashes where there are none. The names are those of the version that package.json pins.
 */
const BEYOND_HTTP: readonly [found: RegExp, instead: string][] = [
  [/var Co=we\(ot\(\)\);[^]*$/, "var types=Je();export{N as NeonDbError,ys as neon,pe as neonConfig,types};"],
  [/(?<=globalThis\.Buffer:)oi\(\)\.Buffer/, "void 0"],
  [/(?<=Ti=)we\(ve\(\),1\)/, "{EventEmitter:class{}}"],
  [/(?<=var Fu=)\(fr\(\),O\(lr\)\)/, "{}"],
];

function byHttpAlone(source: string): string {
  let kept = source;
  for (const [found, instead] of BEYOND_HTTP) {
    if (!found.test(kept)) throw new Error("Neon's driver is another version: see what is to be left out of it");
    kept = kept.replace(found, instead);
  }
  // Modules of its own that nothing asks for any more are left out as well.
  return kept.replaceAll(/(?<=[;,\s]\w+=)(?=[TV]\()/g, "/* @__PURE__ */");
}

/** The classes of Redis' client that have a member for each of some two hundred commands. */
const CLIENTS = ["Redis", "Pipeline"];

/**
 * The module of Redis' client with these commands alone: each request makes a client and its pipelines, with a function for
 * every command in all of them. Throws where there is a command that it does not have.
 *
 * @example withCommands("var Redis = class { get = () => new GetCommand(); set = () => new SetCommand(); };", ["get"])
 * // "var Redis = class { get = () => new GetCommand();  };"
 */
export function withCommands(source: string, commands: readonly string[]): string {
  const { program } = parseSync("redis.mjs", source);
  let [kept, at] = ["", 0];
  const missing = new Set(commands);
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type !== "Identifier" || !CLIENTS.includes(id.name) || init?.type !== "ClassExpression") return;
      for (const member of init.body.body) {
        const name = commandOf(member, source);
        if (name === null || missing.delete(name) || commands.includes(name)) continue;
        kept += source.slice(at, member.start);
        at = member.end;
      }
    },
  }).visit(program);
  if (missing.size > 0) throw new Error(`the client of Redis has no ${[...missing].join(", ")}`);
  return kept + source.slice(at);
}

/** The name of a member that sends a command, or has others that do. */
function commandOf({ start, end, ...member }: ESTree.ClassElement, source: string): string | null {
  if (member.type !== "PropertyDefinition" && member.type !== "MethodDefinition") return null;
  const sends = /\bnew \w+Command\(|Index\(this\.client\b/.test(source.slice(start, end));
  return sends && member.key.type === "Identifier" ? member.key.name : null;
}
