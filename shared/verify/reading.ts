import { type Get, NotThere } from "./log.ts";
import { Unread } from "./trail.ts";

/** A `Get` of a service that is asked by `ask`, given a path and the headers to send. */
export function reading(ask: (path: string, headers: { accept: string }) => Promise<Response>): Get {
  return async (path, accept = "*/*") => {
    const cutOff = (): never => {
      throw new Unread(`${path} could not be read.`);
    };
    const answer = await ask(path, { accept }).catch(cutOff);
    if (answer.status === 404) throw new NotThere(`${path} answers 404.`);
    if (!answer.ok) throw new Unread(`${path} answers ${answer.status}.`);
    return new Uint8Array(await answer.arrayBuffer().catch(cutOff));
  };
}
