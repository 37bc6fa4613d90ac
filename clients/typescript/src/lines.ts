import type { components, paths } from "./generated/service.ts";
import { urlOf } from "./pages.ts";
import { errorOf } from "./problem.ts";
import type { Send } from "./retry.ts";

interface Files {
  "/api/v1/runs/export.jsonl": components["schemas"]["RunRead"];
}

/** The paths of files in JSON Lines. */
export type FilePath = keyof Files & keyof paths;

/** What each line of a file holds. */
export type RecordOf<P extends FilePath> = Files[P];

/** The filters of a file. */
export interface FileOptions<P extends FilePath> {
  query?: paths[P]["get"]["parameters"]["query"];
  signal?: AbortSignal;
}

/** The `lines` of a client. */
export function reader(baseUrl: string, send: Send) {
  return async function* lines<P extends FilePath>(
    path: P,
    { query, signal }: FileOptions<P> = {},
  ): AsyncGenerator<RecordOf<P>, void> {
    const response = await send(new Request(urlOf(baseUrl, path, { query }), signal === undefined ? {} : { signal }));
    if (!response.ok || response.body === null) throw await errorOf(response);
    for await (const line of linesOf(response.body, true)) {
      // The service's own JSON, as its description has it.
      const record: RecordOf<P> = JSON.parse(line);
      yield record;
    }
  };
}

/**
 * The lines of a body that have ended. What stands behind the last end is left out, or, where the body has to be `whole`, an
 * error.
 */
export async function* linesOf(body: ReadableStream<Uint8Array>, whole = false): AsyncGenerator<string, void> {
  const stream = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await stream.read();
      if (done) break;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line's end.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (whole && rest !== "") throw new Error("The file ended within a line: it is not complete.");
  } finally {
    await stream.cancel().catch(() => undefined);
  }
}
