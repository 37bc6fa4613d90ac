/**
 * Loaded into other people's programs before they run: what they would connect to beyond this machine is refused, before
 * any name is looked up. Not every program can be told to keep to itself.
 */
import { Socket } from "node:net";

const HERE = new Set(["127.0.0.1", "localhost"]);
/** Nothing listens there. */
const NOWHERE = { host: "127.0.0.1", port: 9 };

const connect = Reflect.get(Socket.prototype, "connect") as (...args: unknown[]) => Socket;

Object.defineProperty(Socket.prototype, "connect", {
  value: function (this: Socket, ...args: unknown[]): Socket {
    // Node itself passes on options that it has put in order, as a list.
    const options: unknown = Array.isArray(args[0]) ? args[0][0] : args[0];
    if (typeof options !== "object" || options === null) {
      if (typeof args[1] === "string" && !HERE.has(args[1])) args.splice(0, 2, NOWHERE);
    } else if ("host" in options && typeof options.host === "string" && !HERE.has(options.host)) {
      Object.assign(options, NOWHERE);
    }
    return Reflect.apply(connect, this, args);
  },
});
