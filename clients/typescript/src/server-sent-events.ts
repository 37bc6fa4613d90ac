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

/** The lines that have ended; what stands behind the last end is not complete. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line's end.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
