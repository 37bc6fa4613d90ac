/** The script of the pages that verify: it reads what it needs itself, and computes each step here. */
import { textOf, textOfFile } from "../../../shared/verify/bytes.ts";
import type { Claims } from "../../../shared/verify/claims.ts";
import { isObject, parsed } from "../../../shared/verify/json.ts";
import { reading } from "../../../shared/verify/reading.ts";
import { verify, verifyRun } from "../../../shared/verify/verify.ts";
import { show } from "./shown.ts";

const get = reading((path, headers) => fetch(path, { headers, cache: "no-cache" }));

const text = async (path: string): Promise<string> => textOf(await get(path));

/** An element of the page by its id. */
function part<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${id}.`);
  return found;
}

/** What a page shows of its run, to be found again in the statement. */
function claimsOf(json = "{}"): Claims {
  const claims = parsed(json);
  const said = Object.entries(isObject(claims) ? claims : {}).flatMap(([path, value]) =>
    value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? [[path, value] as const]
      : [],
  );
  return Object.fromEntries(said);
}

function onRun(button: HTMLButtonElement): void {
  const check = async (): Promise<void> => {
    button.disabled = true;
    const { run = "", claims } = button.dataset;
    show(await verifyRun(get, run, { now: new Date(), claims: claimsOf(claims) }), part("verdict", HTMLElement));
    button.disabled = false;
  };
  button.hidden = false;
  button.addEventListener("click", () => void check());
}

async function onPaste(form: HTMLFormElement): Promise<void> {
  const given = part("given", HTMLTextAreaElement);
  const [keys, logKey] = [part("jwks", HTMLTextAreaElement), part("log_key", HTMLTextAreaElement)];
  const place = part("verdict", HTMLElement);
  let checks = 0;
  const check = async (): Promise<void> => {
    const own = (checks += 1);
    // What stands there is of something else, which may have held where this does not.
    place.textContent = "It is being checked.";
    // Without a network what was loaded with the page is enough for all but the log as it is now.
    const online =
      navigator.onLine &&
      (await get("/log/key").then(
        () => true,
        () => false,
      ));
    const key = logKey.value.trim();
    const options = { now: new Date(), jwks: keys.value, logKey: key === "" ? null : key, get: online ? get : null };
    const report = await verify(given.value, options);
    if (own === checks) show(report, place);
  };
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    given.value = textOfFile(new Uint8Array(await file.arrayBuffer()));
    await check();
  };
  const file = part("file", HTMLInputElement);
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void check();
  });
  form.addEventListener("input", ({ target }) => {
    checks += 1;
    // What was found is of what stood here before, and so is the name of a file.
    place.textContent = "";
    if (target !== file) file.value = "";
  });
  file.addEventListener("change", () => void take(file.files?.[0]));
  const onFile = (event: DragEvent): boolean => {
    const brings = event.dataTransfer?.types.includes("Files") === true;
    // A text that is dragged lands in its field by itself.
    if (brings) event.preventDefault();
    return brings;
  };
  form.addEventListener("dragover", onFile);
  form.addEventListener("drop", (event) => {
    if (onFile(event)) void take(event.dataTransfer?.files[0]);
  });
  const ready = part("ready", HTMLElement);
  try {
    [keys.value, logKey.value] = await Promise.all([text("/.well-known/jwks.json"), text("/log/key")]);
    ready.textContent = "The keys are here: from now on this page works offline.";
  } catch {
    ready.textContent = "The keys could not be read. Paste those that you have kept.";
  }
}

const button = document.getElementById("verify-run");
if (button instanceof HTMLButtonElement) onRun(button);
const form = document.getElementById("verify");
if (form instanceof HTMLFormElement) void onPaste(form);
