/** An error reply of Redis, such as `WRONGTYPE …`. */
export class RespError extends Error {}

/** A reply in RESP2: a simple string, a bulk string as bytes, an integer, nil, an error, or an array of those. */
export type RespValue = string | Buffer | number | null | RespError | RespValue[];

const CRLF = "\r\n";

/** A command as RESP sends it: an array of bulk strings. */
export function encodeCommand(args: readonly string[]): Buffer {
  const parts = [Buffer.from(`*${args.length}${CRLF}`)];
  for (const arg of args) {
    const bytes = Buffer.from(arg);
    parts.push(Buffer.from(`$${bytes.length}${CRLF}`), bytes, Buffer.from(CRLF));
  }
  return Buffer.concat(parts);
}

/** Takes the bytes of a connection as they come, in pieces of any size, and gives the replies they complete. */
export class RespDecoder {
  #buffer: Buffer = Buffer.alloc(0);
  #offset = 0;

  /** @throws on a byte that opens no reply; integers past 2^53 lose their last digits, as they do in JSON. */
  push(chunk: Buffer): RespValue[] {
    this.#buffer = Buffer.concat([this.#buffer.subarray(this.#offset), chunk]);
    this.#offset = 0;
    const values: RespValue[] = [];
    for (let start = 0; ; start = this.#offset) {
      const value = this.#read();
      if (value === undefined) {
        this.#offset = start;
        return values;
      }
      values.push(value);
    }
  }

  /** The next reply, or undefined when its end has not come yet. */
  #read(): RespValue | undefined {
    const line = this.#readLine();
    if (line === undefined) return undefined;
    const rest = line.slice(1);
    switch (line[0]) {
      case "+":
        return rest;
      case "-":
        return new RespError(rest);
      case ":":
        return Number(rest);
      case "$":
        return this.#readBulk(Number(rest));
      case "*":
        return this.#readArray(Number(rest));
      default:
        throw new Error(`not a RESP2 reply: ${line}`);
    }
  }

  #readLine(): string | undefined {
    const end = this.#buffer.indexOf(CRLF, this.#offset);
    if (end < 0) return undefined;
    const line = this.#buffer.toString("utf8", this.#offset, end);
    this.#offset = end + CRLF.length;
    return line;
  }

  #readBulk(length: number): Buffer | null | undefined {
    if (length < 0) return null;
    const end = this.#offset + length;
    if (this.#buffer.length < end + CRLF.length) return undefined;
    const bytes = this.#buffer.subarray(this.#offset, end);
    this.#offset = end + CRLF.length;
    return bytes;
  }

  #readArray(length: number): RespValue[] | null | undefined {
    if (length < 0) return null;
    const items: RespValue[] = [];
    while (items.length < length) {
      const item = this.#read();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }
}
