import { type View, view } from "./view.ts";

const HEADERS = {
  "Content-Type": "text/javascript; charset=utf-8",
  "Cache-Control": "public, max-age=31536000, immutable",
};

/** A script at its path. Pages have its address of `addressOfScript`, so that it may be kept for good. */
export function scriptView(path: `/${string}.js`, title: string, source: string): View {
  return view({ path, title, show: ({ c }) => c.newResponse(source, { headers: HEADERS }) });
}
