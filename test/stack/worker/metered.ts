/** Runs in workerd, loaded before the service: what its handlers send is metered from here on. */
import { invoke, watchFetch } from "../subrequests.ts";

watchFetch();

type Handler = (...given: unknown[]) => unknown;

/** The handlers of a Worker, each call of which is an invocation that may send so many requests. */
export function metered(service: Readonly<Record<string, Handler>>, subrequests: number): Record<string, Handler> {
  return Object.fromEntries(
    Object.entries(service).map(([name, handler]) => [
      name,
      (...given) => invoke(name, subrequests, () => handler.apply(service, given)),
    ]),
  );
}
