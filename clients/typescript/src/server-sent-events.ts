import { linesOf } from "./lines.ts";

/** One message of a stream; `id` is the last that the stream gave, of this message or an earlier one. */
export interface Message {
  id: string;
  event: string;
  data: string;
}

/** The messages in a body of `text/event-stream`, by the rules of the HTML standard; comments and empty messages are left out. */
export async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Message, void> {
  let [id, event, data]: [string, string, string[]] = ["", "message", []];
  for await (const line of linesOf(body)) {
    if (line === "") {
      if (data.length > 0) yield { id, event, data: data.join("\n") };
      [event, data] = ["message", []];
      continue;
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }
}
