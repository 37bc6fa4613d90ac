import { addressOfScript } from "./script-address.ts";

/**
 * The script of a page that goes on changing: it asks for the page again while it is looked at, and brings the part `live` in
 * line with the new one, piece by piece. What stays the same stays in place, with the reader's focus, selection and scrolling;
 * what is gone goes once the focus has left it. It ends with the answer that no longer asks for it. What comes in place of the
 * page is shown in its place: its reader has to sign in first, or there is nothing here any more.
 */
const SOURCE = `const again = () => setTimeout(look, document.hidden ? 15000 : 2000);
const signs = (node) => ["id", "name", "href", "action", "datetime", "aria-label"].map((name) => node.getAttribute(name));
function key(node) {
  if (node.nodeType !== 1) return node.nodeName;
  const part = node.matches("tr,p,li") ? node.querySelector("[href],[action]") : null;
  return [node.nodeName, ...signs(node), ...(part === null ? [] : signs(part))].join();
}
function leave(node) {
  if (!node.contains(document.activeElement)) node.remove();
  else node.addEventListener("focusout", () => setTimeout(() => leave(node)), { once: true });
}
function alike(old, now) {
  // A time was told by the reader's clocks since; another one has another key.
  if (old.isEqualNode(now) || old.nodeName === "TIME") return;
  if (old.nodeType !== 1) return void (old.data = now.data);
  for (const name of old.getAttributeNames()) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const kept = new Set([...now.childNodes].map(key));
  const left = [...old.childNodes].filter((one) => kept.has(key(one)) || leave(one));
  for (const one of [...now.childNodes]) {
    const at = left.findIndex((other) => key(other) === key(one));
    if (at < 0) old.insertBefore(one, left[0] ?? null);
    else {
      for (const gone of left.splice(0, at)) leave(gone);
      alike(left.shift(), one);
    }
  }
  left.forEach(leave);
}
// The browser parses what it loads; text that a script would have parsed is what Trusted Types refuse.
function look() {
  const asked = new XMLHttpRequest();
  asked.open("GET", location.href);
  asked.setRequestHeader("accept", "text/html");
  asked.responseType = "document";
  asked.onload = () => {
    const page = asked.response;
    const [now, old] = [page?.getElementById("live") ?? null, document.getElementById("live")];
    // What passes by itself is not asked about at once, unless its answer says when.
    if (asked.status === 429 || asked.status >= 500) setTimeout(look, 15000);
    else if (now === null && asked.getResponseHeader("refresh") === null) location.replace(location.pathname + location.search);
    else if (now === null || page.querySelector("script[src^='/live.js']") !== null) again();
    if (now !== null && old !== null) alike(old, now);
  };
  asked.onerror = again;
  asked.send();
}
again();
`;

/** The text of the script. */
export const LIVE_SOURCE = SOURCE;

/** Where a page finds it. */
export const LIVE = addressOfScript("/live.js", SOURCE);
