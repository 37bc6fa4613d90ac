import type { ConsoleParts } from "./console.ts";

/** The console as a page: the state of queue, counters and mail, with buttons for time and cron. */
export function consolePage({ service, broker, counters, mailbox }: ConsoleParts): string {
  const rows = (entries: object): string =>
    Object.entries(entries)
      .map(([name, value]) => `<tr><th>${escape(name)}</th><td>${escape(JSON.stringify(value))}</td></tr>`)
      .join("");
  const mails = mailbox
    .list()
    .slice(0, 50)
    .map(
      ({ to, subject, text, created_at }) =>
        `<details><summary>${escape(created_at)} <b>${escape(subject)}</b> to ${escape(to)}</summary><pre>${escape(text)}</pre></details>`,
    )
    .join("");
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Local stack</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'">
<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}
th,td{text-align:left;padding:.2rem 1rem .2rem 0}pre{white-space:pre-wrap;background:#f4f4f4;padding:.5rem}button{font:inherit;margin-right:.5rem}</style>
<h1>Local stack</h1><p>The service is at <a href="${escape(service)}">${escape(service)}</a>; its description at
<a href="${escape(service)}/openapi.json">/openapi.json</a>.</p>
<h2>Queue</h2><table>${rows(broker.stats())}</table>
<p><button onclick="post('/queue/advance',{ms:60000})">One minute later</button>
<button onclick="post('/queue/advance',{ms:86400000})">One day later</button>
<button onclick="post('/cron',{})">Run the scheduled work</button></p>
<h2>Counters</h2><table>${rows(counters.snapshot())}</table>
<p><button onclick="post('/counters/reset',{})">Reset</button></p>
<p>What the Worker has logged: <a href="/log">all</a>, <a href="/log?level=warn">warnings</a>,
<a href="/log?level=error">errors</a>.</p>
<h2>Mail</h2>${mails === "" ? "<p>None yet.</p>" : mails}
<script>const post=async(path,body)=>{await fetch(path,{method:'POST',body:JSON.stringify(body)});location.reload()}</script></html>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
