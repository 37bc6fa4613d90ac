import { verbatim } from "../../../shared/http/reply.ts";
import { type View, view } from "./view.ts";

const TYPE = "text/javascript; charset=utf-8";
const FOR_GOOD = { "Cache-Control": "public, max-age=31536000, immutable" };

/** A script at its path. Pages have its address of `addressOfScript`, so that it may be kept for good. */
export function scriptView(path: `/${string}.js`, title: string, source: string): View {
  return view({ path, title, show: () => verbatim(source, TYPE, FOR_GOOD) });
}
