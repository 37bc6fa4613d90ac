import { type Bytes, fromBase64url, hex, sha256, textOf, utf8 } from "./bytes.ts";
import { canonical, isObject, type Members, parsed } from "./json.ts";
import { isSigned } from "./key.ts";
import { Refused, type Statement, type Trail } from "./trail.ts";

const HEADER = { alg: "EdDSA", cty: "vc", typ: "vc+jwt" } as const;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * The steps from `form` to `content`: a compact JWS with exactly the service's header, signed by a key of `jwks` (text as of /.well-known/jwks.json), over a
 * credential in RFC 8785 form whose issuer the key belongs to. Returns it, with the SHA-256 of the JWS, by which the log has it.
 */
export async function checkStatement(
  trail: Trail,
  jws: string,
  jwks: string,
): Promise<{ statement: Statement; sha256: string }> {
  const form: Record<string, string> = { statement: jws };
  const { kid, payload, signature } = await trail.go("form", form, async () => {
    const [header, body, mark, ...more] = jws.split(".", 4).map(fromBase64url);
    if (!header || !body || !mark || more.length > 0) {
      throw new Refused("It is not three parts in base64url, each written in the one way that there is.");
    }
    const members = parsed(textOf(header));
    if (!isObject(members)) throw new Refused("Its header is no JSON object.");
    form["header"] = JSON.stringify(members);
    const { kid: name, ...others } = members;
    if (typeof name !== "string" || canonical(others) !== canonical(HEADER)) {
      throw new Refused(`Its header has to be ${canonical(HEADER)} with a kid, and nothing else.`);
    }
    return ["A compact JWS, which says that it is a credential.", { kid: name, payload: body, signature: mark }];
  });
  const inputsOfKey: Record<string, string> = { kid };
  const publicKey = await trail.go("key", inputsOfKey, async () => {
    const keys = keysOf(jwks);
    inputsOfKey["published keys"] = keys.map((one) => String(one["kid"])).join("\n");
    const key = keys.find((one) => one["kid"] === kid);
    if (key === undefined) {
      throw new Refused(
        "No key of the set has this kid: it was signed by somebody else, or by a key that came into it later, or left it.",
      );
    }
    const bytes = typeof key["x"] === "string" ? fromBase64url(key["x"]) : null;
    if (key["kty"] !== "OKP" || key["crv"] !== "Ed25519" || bytes?.length !== 32) {
      throw new Refused("The key is none of Ed25519.");
    }
    return ["Found in the set of keys.", bytes];
  });
  const message = utf8(jws.slice(0, jws.lastIndexOf(".")));
  const inputs = {
    "public key": hex(publicKey),
    signature: hex(signature),
    "SHA-256 of what is signed": hex(await sha256(message)),
  };
  await trail.go("signature", inputs, async () => {
    if (!(await isSigned(publicKey, signature, message))) {
      throw new Refused("The signature is not by this key over these bytes: the statement was changed, or made up.");
    }
    return ["Ed25519 verifies.", null];
  });
  const statement = await trail.go("content", { kid }, async () => {
    const credential = credentialOf(payload);
    if (credential.issuer !== kid.split("#", 1)[0]) throw new Refused(`The key is not ${credential.issuer}'s.`);
    return [`${credential.type.at(-1)} by ${credential.issuer}.`, credential];
  });
  trail.statement = statement;
  return { statement, sha256: hex(await sha256(utf8(jws))) };
}

function keysOf(jwks: string): Members[] {
  const set = parsed(jwks);
  const keys = isObject(set) && Array.isArray(set["keys"]) ? set["keys"].filter(isObject) : [];
  if (keys.length === 0) throw new Refused("There are no keys, in the form of /.well-known/jwks.json.");
  return keys;
}

function credentialOf(payload: Bytes): Statement {
  const text = textOf(payload);
  const content = parsed(text);
  if (!isObject(content)) throw new Refused("What is signed is no JSON object.");
  if (canonical(content) !== text) throw new Refused("What is signed is not in its RFC 8785 form.");
  const { id, type, issuer, validFrom, validUntil = null, credentialSubject, credentialStatus = null } = content;
  const contexts = content["@context"];
  const types = Array.isArray(type) ? type.filter((one) => typeof one === "string") : [];
  if (
    !Array.isArray(contexts) ||
    contexts[0] !== "https://www.w3.org/ns/credentials/v2" ||
    !types.includes("VerifiableCredential") ||
    typeof id !== "string" ||
    typeof issuer !== "string" ||
    !isInstant(validFrom) ||
    !(validUntil === null || isInstant(validUntil)) ||
    !isObject(credentialSubject) ||
    !(credentialStatus === null || isObject(credentialStatus))
  ) {
    throw new Refused("What is signed is no Verifiable Credential 2.0.");
  }
  return { id, type: types, issuer, validFrom, validUntil, credentialSubject, credentialStatus };
}

const isInstant = (value: unknown): value is string => typeof value === "string" && INSTANT.test(value);
