import { createHash } from "node:crypto";

/** The one style sheet of the pages. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#16202b;--mute:#5c6b7a;--line:#d9e0e7;--ground:#fff;--tint:#f4f7fa;--bar:#2f6fde;--soft:#c9dbf8}
@media(prefers-color-scheme:dark){:root{--ink:#e8edf2;--mute:#9aa8b6;--line:#2c3743;--ground:#10161d;--tint:#18212b;--bar:#6ea2ff;--soft:#27436f}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:64rem;margin:0 auto;padding:1rem}
header{display:flex;flex-wrap:wrap;gap:1rem;align-items:baseline;border-bottom:1px solid var(--line)}
header a.name{font-weight:700;font-size:1.15rem;color:var(--ink);text-decoration:none}
h1{font-size:1.6rem;margin:1rem 0 .25rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{max-width:44rem}
a{color:var(--bar)}
.mute,footer{color:var(--mute)}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem .5rem;list-style:none;margin:.5rem 0;padding:0}
nav li a{display:block;padding:.15rem .6rem;border:1px solid var(--line);border-radius:1rem;text-decoration:none}
nav li a[aria-current]{background:var(--bar);border-color:var(--bar);color:var(--ground)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--mute);padding:.25rem 0}
th,td{text-align:left;padding:.45rem .75rem .45rem 0;border-bottom:1px solid var(--line);white-space:nowrap}
td.number,th.number{text-align:right}
td.wide{white-space:normal;min-width:10rem}
.tag{font-size:.8rem;border:1px solid var(--line);border-radius:.4rem;padding:0 .4rem;margin-left:.4rem;color:var(--mute)}
svg{display:block}
.track{fill:var(--tint)}.range{fill:var(--soft)}.value{fill:var(--bar)}
.box rect{fill:var(--tint);stroke:var(--line)}.box.model rect{stroke:var(--bar)}.box text{fill:var(--ink);font-size:13px}
.box text.kind{fill:var(--mute);font-size:12px}.arrow{fill:none;stroke:var(--mute)}.head{fill:var(--mute)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}
dt{color:var(--mute)}dd{margin:0}
`;

const HASH = createHash("sha256").update(STYLE).digest("base64");

/** What a page may load: nothing but this style sheet, and no frame may hold it. */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};
