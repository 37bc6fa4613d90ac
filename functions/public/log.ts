import * as z from "zod";
import { conditional } from "../../shared/http/answer.ts";
import { LIMITS } from "../../shared/http/limits.ts";
import { verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { sha256 } from "../../shared/platform/crypto.ts";
import { readCheckpoint, readVerifierKey } from "../../shared/transparency/checkpoint.ts";
import { TILE_PATH } from "../../shared/tlog/tile.ts";
import { readTile } from "../../shared/transparency/tiles.ts";

const tag = "Log";
const TEXT = "text/plain; charset=utf-8";
const BYTES = "application/octet-stream";
const FOR_ALL = { "Access-Control-Allow-Origin": "*" };
const LIMITED = `At most ${LIMITS.read} requests a minute come from one address, those to all open reads together.`;

export const log = [
  route({
    id: "readLogCheckpoint",
    method: "get",
    path: "/log/checkpoint",
    tag,
    summary: "The last state of the log, signed",
    description:
      "A checkpoint (C2SP tlog-checkpoint): the log's name, how many entries it has, and the root of their Merkle tree " +
      "(RFC 6962, SHA-256), as a note that the log's own key signed. The log only grows: keep a checkpoint, and each " +
      `later one can be shown to continue it. ${LIMITED}`,
    auth: "open",
    returns: { 200: { type: "text/plain", description: "A signed note" } },
    problems: ["not_found"],
    async handler({ ctx }) {
      return verbatim(await readCheckpoint(ctx), TEXT, { ...FOR_ALL, "Cache-Control": "public, max-age=5" });
    },
  }),
  route({
    id: "readLogKey",
    method: "get",
    path: "/log/key",
    tag,
    summary: "The key that verifies the log's checkpoints",
    description:
      "In the form of signed notes, `name+hash+key`. Keep it where you verify: who takes it anew each time believes whoever " +
      "answers.",
    auth: "open",
    returns: { 200: { type: "text/plain", description: "A verifier key, and the end of the line" } },
    cache: "fixed",
    async handler({ ctx }) {
      const key = `${await readVerifierKey(ctx)}\n`;
      return verbatim(key, TEXT, { ...FOR_ALL, "Cache-Control": "public, max-age=300" });
    },
  }),
  route({
    id: "readLogTile",
    method: "get",
    path: "/log/tile/{tile_path}",
    tag,
    summary: "The log's entries, and the hashes of their tree",
    description:
      "As C2SP tlog-tiles says. `tile_path` is `L/N` for the hashes of level L, or `entries/N` for 256 entries, each " +
      "behind its length in two bytes; `.p/W` follows for the last one while it has only W. N is in groups of three digits: " +
      "`x001/x234/067`. An entry is RFC 8785 JSON with a `kind`: `run` and `credential` (the SHA-256 of what was signed), " +
      "`revoked`, `key`, `epoch` and `reveal`, `suite` (SHA-256 over the public form of a suite's active tasks), and `board` " +
      "(SHA-256 over a night's ranked board). What is here never changes: keep it, and ask for it once. " +
      LIMITED,
    auth: "open",
    params: z.object({
      tile_path: z
        .string()
        .regex(TILE_PATH, "Name a tile as C2SP tlog-tiles does, such as 0/x001/234 or entries/000.p/17.")
        .meta({ description: "With its slashes", examples: ["0/000", "entries/x001/234.p/17"] }),
    }),
    returns: { 200: { type: BYTES, description: "Hashes of 32 bytes, or entries" } },
    problems: ["not_found"],
    cache: "fixed",
    async handler({ ctx, params: { tile_path }, c }) {
      const bytes = Uint8Array.from(await readTile(ctx, tile_path));
      const etag = `W/"${sha256(bytes).slice(0, 32)}"`;
      const caching = { "Cache-Control": "public, max-age=31536000, immutable", ETag: etag };
      return conditional(c, new Response(bytes, { headers: { ...FOR_ALL, "Content-Type": BYTES, ...caching } }), etag);
    },
  }),
];
