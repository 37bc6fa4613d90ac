import { createHash } from "node:crypto";
import { raw } from "hono/html";
import * as z from "zod";
import { verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { page } from "./layout.tsx";

/** The platform's binding to the files of the package swagger-ui-dist, which are deployed beside the Worker. */
interface Assets {
  fetch(url: string): Promise<Response>;
}

const isAssets = (binding: unknown): boolean => typeof binding === "object" && binding !== null && "fetch" in binding;
const Bindings = z.object({ ASSETS: z.custom<Assets>(isAssets, "The binding ASSETS is missing") });

const START = `SwaggerUIBundle({url:"/openapi.json",dom_id:"#docs",deepLinking:true,validatorUrl:null,withCredentials:true})`;
const HASH = createHash("sha256").update(START).digest("base64");

/** What the page may load: this service's own files and answers. React sets styles by the CSSOM, which a policy allows. */
const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${HASH}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const DOCS = (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>Interface · Agent Screening</title>
      <link rel="stylesheet" href="/docs/swagger-ui.css" />
    </head>
    <body>
      <p>
        <a href="/">Agent Screening</a> · <a href="/docs/guides">Guides</a>
      </p>
      <div id="docs">
        <noscript>
          Without scripts, read <a href="/openapi.json">openapi.json</a>.
        </noscript>
      </div>
      <script src="/docs/swagger-ui-bundle.js" />
      <script>{raw(START)}</script>
    </body>
  </html>
);

/** The endpoint that gives out one of the package's files. */
function asset(id: string, name: string, type: string, summary: string) {
  return route({
    id,
    method: "get",
    path: `/docs/${name}`,
    tag: "Pages",
    summary,
    auth: "none",
    returns: { 200: { type, description: "The file" } },
    async handler({ c }) {
      const { ASSETS } = Bindings.parse(c.env);
      const file = await ASSETS.fetch(`https://assets.internal/${name}`);
      if (!file.ok) throw new Error(`${name} was not deployed`);
      return verbatim(await file.text(), `${type}; charset=utf-8`, { "Cache-Control": "public, max-age=3600" });
    },
  });
}

export const docs = [
  route({
    id: "showDocs",
    method: "get",
    path: "/docs",
    tag: "Pages",
    summary: "This description as a page, to read and to try",
    auth: "none",
    returns: { 200: { type: "text/html", description: "Swagger UI on /openapi.json" } },
    handler() {
      const { headers, ...reply } = page(DOCS);
      return { ...reply, headers: { ...headers, "Content-Security-Policy": POLICY } };
    },
  }),
  asset("readDocsStyle", "swagger-ui.css", "text/css", "The style sheet of the page /docs"),
  asset("readDocsScript", "swagger-ui-bundle.js", "text/javascript", "The script of the page /docs"),
];
