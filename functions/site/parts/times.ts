import { addressOfScript } from "./script-address.ts";

/** The script that tells moments and days by the reader's clocks, also in what a page puts in later; the title keeps UTC. */
const SOURCE = `const clock = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short" });
const named = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
function tell() {
  for (const time of document.querySelectorAll("time[data-day]")) {
    time.removeAttribute("data-day");
    time.title = time.textContent + " UTC";
    time.textContent = day.format(new Date(time.dateTime));
  }
  for (const time of document.querySelectorAll("time[data-moment]")) {
    const at = new Date(time.dateTime);
    const zone = named.formatToParts(at).find(({ type }) => type === "timeZoneName").value;
    time.removeAttribute("data-moment");
    time.title = time.textContent;
    time.textContent = clock.format(at) + " " + zone;
  }
}
tell();
new MutationObserver(tell).observe(document.body, { childList: true, subtree: true });
`;

/** The text of the script. */
export const TIMES_SOURCE = SOURCE;

/** Where a page finds it. */
export const TIMES = addressOfScript("/times.js", SOURCE);
