import { createHash } from "node:crypto";

/** The one style sheet of the pages. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#16202b;--mute:#566473;--line:#d3dbe3;--edge:#7b8896;--ground:#fff;--tint:#f4f7fa;--bar:#245fc9;--soft:#c9dbf8;--on:#fff;--bad:#a8201a;--badtint:#fdf0ef;--good:#17693a;--goodtint:#eef8f1}
@media(prefers-color-scheme:dark){:root{--ink:#e8edf2;--mute:#9fadbb;--line:#2c3743;--edge:#7d8b99;--ground:#10161d;--tint:#18212b;--bar:#7dacff;--soft:#27436f;--on:#0c1218;--bad:#ff9c94;--badtint:#2c1716;--good:#83d3a0;--goodtint:#13251a}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
body>header,main,footer{max-width:64rem;margin:0 auto;padding:1rem}
body>header{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:baseline;border-bottom:1px solid var(--line)}
header a.name{font-weight:700;font-size:1.15rem;color:var(--ink);text-decoration:none}
header nav{margin-left:auto}header nav ul{gap:.25rem 1rem;margin:0;align-items:baseline}
header nav li a,footer nav li a,header nav li button{padding:0;border:0;border-radius:0;background:none;color:var(--bar);text-decoration:underline;font:inherit;min-height:0}
header nav li a[aria-current]{background:none;color:var(--ink);text-decoration:none;font-weight:600}
header nav form,header nav form p{margin:0}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.25rem .5rem}
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
h1{font-size:1.6rem;line-height:1.25;margin:1rem 0 .25rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{max-width:44rem}
a{color:var(--bar)}
.mute,footer{color:var(--mute)}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem .5rem;list-style:none;margin:.5rem 0;padding:0}
nav li a{display:block;padding:.15rem .6rem;border:1px solid var(--line);border-radius:1rem;text-decoration:none}
nav li a[aria-current]{background:var(--bar);border-color:var(--bar);color:var(--on)}
footer nav ul{gap:.25rem 1rem}.tag.bad{color:var(--bad);border-color:var(--bad)}
.scroll{overflow-x:auto}@media print{.scroll{overflow:visible}}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--mute);padding:.25rem 0}
th,td{text-align:left;padding:.45rem .75rem .45rem 0;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:baseline}
td.number,th.number{text-align:right}
td.wide,th.wide{white-space:normal;min-width:10rem}
@media screen and (max-width:60rem){.rows,.rows tbody,.rows tr,.rows td{display:block}.rows thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.rows tr{border-bottom:1px solid var(--line);padding:.5rem 0}.rows td{border:0;padding:.1rem 0;text-align:left;white-space:normal}.rows td:not([data-of]){display:inline-block;margin:.3rem .75rem 0 0}.rows td:empty{display:none}.rows [data-of]::before{content:attr(data-of)": ";color:var(--mute)}}
.tag{font-size:.8rem;border:1px solid var(--line);border-radius:.4rem;padding:0 .4rem;margin-left:.4rem;color:var(--mute);white-space:nowrap}
.notice{border:1px solid var(--line);border-left:4px solid var(--bar);border-radius:.3rem;background:var(--tint);padding:.5rem 1rem;margin:1rem 0;max-width:44rem}
.notice.bad{border-left-color:var(--bad);background:var(--badtint)}.notice.good{border-left-color:var(--good);background:var(--goodtint)}
.notice p,.notice ul{margin:.25rem 0}
.empty{border:1px dashed var(--edge);border-radius:.4rem;padding:1rem;max-width:44rem}
form{max-width:28rem}td form,li form{max-width:none}td form p{margin:0}td select{width:auto}
.field{margin:1rem 0}.field label{display:block;font-weight:600}.field.tick label{display:inline;font-weight:400;margin-left:.5rem}
input,select,textarea{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--edge);border-radius:.3rem;padding:.45rem .6rem;width:100%;min-height:2.5rem}
input[type=checkbox]{width:1.1rem;min-height:0;height:1.1rem;vertical-align:-.15rem}
fieldset{border:1px solid var(--line);border-radius:.3rem;margin:1rem 0;padding:.5rem 1rem}fieldset label{display:inline}
textarea.code{font:14px/1.5 ui-monospace,monospace}textarea[readonly]{background:var(--tint);max-width:44rem;field-sizing:content}h3{font-size:1rem;margin:1rem 0 .25rem}
[aria-invalid]{border-color:var(--bad);border-width:2px}
.hint{color:var(--mute);font-size:.9rem;margin:.2rem 0}.error{color:var(--bad);font-size:.9rem;margin:.2rem 0;font-weight:600}
button,a.button{display:inline-block;font:inherit;font-weight:600;color:var(--on);background:var(--bar);border:1px solid var(--bar);border-radius:.3rem;padding:.45rem 1rem;min-height:2.5rem;cursor:pointer;text-decoration:none}
button.quiet,a.button.quiet{color:var(--bar);background:none}button.danger{color:var(--on);background:var(--bad);border-color:var(--bad)}
button:disabled{opacity:.6;cursor:default}
progress{width:100%;height:1rem;accent-color:var(--bar)}
pre,code{font:14px/1.5 ui-monospace,monospace}pre{background:var(--tint);border:1px solid var(--line);border-radius:.3rem;padding:.75rem;white-space:pre-wrap}
svg{display:block}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
summary{cursor:pointer;color:var(--bar)}
.chart{margin:1rem 0;max-width:32rem}.chart svg{width:100%;height:auto}figcaption{font-weight:600;margin-bottom:.25rem}
.chart td,.chart th{white-space:normal;overflow-wrap:normal}.chart .wide{overflow-wrap:anywhere;min-width:5rem}
.chart text{fill:var(--mute);font-size:11px}.axis{fill:none;stroke:var(--line)}.zero{stroke:var(--edge)}
.line{fill:none;stroke:var(--bar);stroke-width:2}.band{fill:var(--soft)}.web{fill:var(--bar);fill-opacity:.2;stroke:var(--bar)}
.front{fill:none;stroke:var(--bar);stroke-dasharray:4 3}.dot{fill:var(--bar);stroke:var(--bar)}.dot.off{fill:var(--ground)}
.cell{text-align:center;border-left:1px solid var(--line);padding:.3rem .5rem}.cell.all{background:var(--goodtint);color:var(--good)}
.cell.none{background:var(--badtint);color:var(--bad)}.cell.some{background:var(--tint)}th.column{white-space:normal;min-width:6rem;text-align:center;padding:.3rem .5rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:0 2rem}
.track{fill:var(--tint)}.range{fill:var(--soft)}.value{fill:var(--bar)}
@media(forced-colors:active){.track{fill:Canvas;stroke:CanvasText}.range,.value{fill:Highlight}.range+.value{fill:HighlightText}}
.box rect:not(.value){fill:var(--tint);stroke:var(--line)}.box.model rect{stroke:var(--bar)}.box text{fill:var(--ink);font-size:13px}
.box text.kind{fill:var(--mute);font-size:12px}.arrow{fill:none;stroke:var(--mute)}.head{fill:var(--mute)}
.checks{list-style:none;padding:0;margin:.25rem 0}.checks>li{padding-left:1.6rem;position:relative;margin:.25rem 0}
.checks>li::before{content:"";position:absolute;left:0;top:.3rem;width:.95rem;height:.95rem;border:2px solid var(--edge);border-radius:50%}
.checks .met::before{background:var(--good);border-color:var(--good)}
.checks .met::before,main nav li a[aria-current]{forced-color-adjust:none}h4{font-size:1rem;margin:.75rem 0 .25rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1rem}
dt{color:var(--mute)}dd{margin:0}
@media(max-width:30rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.5rem}header nav{margin-left:0}}
`;

const HASH = createHash("sha256").update(STYLE).digest("base64");

/**
 * What a page may load: this style sheet and what lies here; its forms are sent here alone, and no frame may hold it. It tells
 * nobody from where a link was followed but the site: an address may hold a token. A browser that is told to keep the site
 * to itself too would send forms without an Origin to know them by. Scripts may make no markup and no code of text.
 */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${HASH}'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
  "Referrer-Policy": "strict-origin",
};
