import { addressOfScript } from "./script-address.ts";

/** The script of a page with something to copy: it shows the buttons that need it, and says what came of them. */
const SOURCE = `for (const button of document.querySelectorAll("button[data-copies]")) {
  const [text, said] = [document.getElementById(button.dataset.copies), button.nextElementSibling];
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      said.textContent = "Copied.";
    } catch {
      text.select();
      said.textContent = "The browser does not let a page copy. The text is selected now: copy it from there.";
    }
  });
}
`;

/** The text of the script. */
export const COPY_SOURCE = SOURCE;

/** Where a page finds it. */
export const COPY = addressOfScript("/copy.js", SOURCE);
