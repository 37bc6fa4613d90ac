import { addressOfScript } from "./script-address.ts";

/**
 * The script of a page that goes on changing: it asks for the page again while it is looked at, and puts the part `live`
 * in place of the old one. It ends with the answer that no longer asks for it.
 */
const SOURCE = `const again = () => setTimeout(look, document.hidden ? 15000 : 2000);
async function look() {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [now, old] = [page.getElementById("live"), document.getElementById("live")];
    if (now !== null && old !== null && !old.contains(document.activeElement)) old.replaceWith(now);
    if (now !== null && page.querySelector("script[src^='/live.js']") === null) return;
  } catch {}
  again();
}
again();
`;

/** The text of the script. */
export const LIVE_SOURCE = SOURCE;

/** Where a page finds it. */
export const LIVE = addressOfScript("/live.js", SOURCE);
