/** Encrypts anew, under the first key, what an older one encrypts: `npm run reencrypt` with DATABASE_URL and the keys set. */
import type { Client } from "pg";
import { decrypt, encrypt, keyNameOf, type Keyring } from "../shared/platform/encryption.ts";
import { AUTH_HEADER } from "../shared/agents/auth-header.ts";
import { MINTING } from "../shared/catalogue/minting.ts";
import { EPOCH } from "../shared/epochs/secret.ts";
import { TOTP_SECRET } from "../shared/identity/second-factor/factor.ts";
import { SECRET_PURPOSE } from "../shared/webhooks/view.ts";
import { openClient } from "./client.ts";
import { command, databaseUrl, encryptionKeys } from "./command.ts";

/** Where something is kept encrypted, and what its ciphertexts are bound to. A place that is not here loses its old key. */
interface Place {
  name: string;
  purpose: string;
  /** Reads a piece in the order of `key`, after $1, at most $2 rows. */
  read: string;
  /** Puts `fresh` in the place of `old`, where that still is what is there. */
  write: string;
  /** Before every key. */
  start: string;
}

const NIL = "00000000-0000-0000-0000-000000000000";
const pairs = (type: string) => `unnest($1::${type}[], $2::text[], $3::text[]) as x (key, old, fresh)`;

const PLACES: readonly Place[] = [
  {
    name: "webhooks.secret",
    purpose: SECRET_PURPOSE,
    read: "select id as key, secret as sealed from webhooks where secret is not null and id > $1 order by id limit $2",
    write: `update webhooks w set secret = x.fresh from ${pairs("uuid")} where w.id = x.key and w.secret = x.old`,
    start: NIL,
  },
  {
    name: "agents.auth_header.sealed",
    purpose: AUTH_HEADER,
    read: `select id as key, auth_header ->> 'sealed' as sealed from agents
      where auth_header is not null and id > $1 order by id limit $2`,
    write: `update agents a set auth_header = jsonb_set(a.auth_header, '{sealed}', to_jsonb(x.fresh)) from ${pairs("uuid")}
      where a.id = x.key and a.auth_header ->> 'sealed' = x.old`,
    start: NIL,
  },
  {
    name: "totp_factors.secret",
    purpose: TOTP_SECRET,
    read: "select user_id as key, secret as sealed from totp_factors where user_id > $1 order by user_id limit $2",
    write: `update totp_factors f set secret = x.fresh from ${pairs("uuid")} where f.user_id = x.key and f.secret = x.old`,
    start: NIL,
  },
  {
    name: "service_secrets.sealed",
    purpose: MINTING,
    read: "select name as key, sealed from service_secrets where name > $1 order by name limit $2",
    write: `update service_secrets s set sealed = x.fresh from ${pairs("text")} where s.name = x.key and s.sealed = x.old`,
    start: "",
  },
  {
    name: "epochs.sealed",
    purpose: EPOCH,
    read: `select kind || ' ' || name as key, sealed from epochs where kind || ' ' || name > $1
      order by kind || ' ' || name limit $2`,
    write: `update epochs e set sealed = x.fresh from ${pairs("text")}
      where e.kind || ' ' || e.name = x.key and e.sealed = x.old`,
    start: "",
  },
  {
    // Mails that the queue has not taken yet.
    name: "outbox.body.token",
    purpose: "mail",
    read: `select id as key, body ->> 'token' as sealed from outbox
      where consumer = 'mail' and body ->> 'token' is not null and id > $1 order by id limit $2`,
    write: `update outbox o set body = jsonb_set(o.body, '{token}', to_jsonb(x.fresh)) from ${pairs("uuid")}
      where o.consumer = 'mail' and o.id = x.key and o.body ->> 'token' = x.old`,
    start: NIL,
  },
];

/** What was done, of one piece or of all. */
export interface Reencrypted {
  /** Ciphertexts that were encrypted anew. */
  changed: number;
  /** `place key` of those that none of the keys opens; they stay what they are. */
  failed: string[];
}

/**
 * Goes through everything that is kept encrypted, `size` rows a statement, each of which stands alone: it can be cut off
 * and started again, beside a running service. What changes meanwhile stays as it was changed. `progress` is told of each
 * piece.
 */
export async function reencrypt(
  url: string,
  keys: Keyring,
  {
    size = 500,
    progress = () => undefined,
  }: { size?: number; progress?: (place: string, piece: Reencrypted) => void } = {},
): Promise<Reencrypted> {
  const client = await openClient(url);
  const total: Reencrypted = { changed: 0, failed: [] };
  try {
    for (const place of PLACES) {
      for (let after: string | undefined = place.start; after !== undefined; ) {
        const { rows }: { rows: Row[] } = await client.query<Row>(place.read, [after, size]);
        const piece = await takePiece(client, place, keys, rows);
        total.changed += piece.changed;
        total.failed.push(...piece.failed);
        if (rows.length > 0) progress(place.name, piece);
        after = rows.length < size ? undefined : rows.at(-1)?.key;
      }
    }
    return total;
  } finally {
    await client.end();
  }
}

interface Row {
  key: string;
  sealed: string;
}

async function takePiece(client: Client, place: Place, keys: Keyring, rows: Row[]): Promise<Reencrypted> {
  const failed: string[] = [];
  const anew = rows.flatMap(({ key, sealed }) => {
    // Without a name it may be any key's, and another key may have had the name: only a try can tell.
    if (keyNameOf(sealed) === keys[0].name && opens(sealed, [keys[0]], place)) return [];
    if (opens(sealed, keys, place))
      return [{ key, sealed, fresh: encrypt(decrypt(sealed, keys, place.purpose), keys, place.purpose) }];
    failed.push(`${place.name} ${key}`);
    return [];
  });
  if (anew.length === 0) return { changed: 0, failed };
  const columns = [anew.map(({ key }) => key), anew.map(({ sealed }) => sealed), anew.map(({ fresh }) => fresh)];
  const { rowCount } = await client.query(place.write, columns);
  return { changed: rowCount ?? 0, failed };
}

function opens(sealed: string, keys: Keyring, { purpose }: Place): boolean {
  try {
    decrypt(sealed, keys, purpose);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main)
  await command(async () => {
    const url = databaseUrl(process.env);
    const keys = encryptionKeys(process.env);
    const progress = (place: string, { changed }: Reencrypted) => console.log(`${place}: ${changed}`);
    const { changed, failed } = await reencrypt(url, keys, { progress });
    console.log(`${changed} secrets were encrypted anew under ${keys[0].name ?? "DATA_ENCRYPTION_KEY"}.`);
    if (failed.length > 0) {
      console.error(
        `None of the keys opens these; give the key that does, or have them set anew:\n${failed.join("\n")}`,
      );
      process.exitCode = 1;
    }
  });
