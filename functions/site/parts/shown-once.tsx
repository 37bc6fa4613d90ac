import { COPY } from "./copy.ts";

/**
 * A text that is shown this once, in a field in which it can be selected as a whole by keyboard, mouse and finger, or copied by
 * a button where the page has the script `COPY`; with `file` as a file of that name, too, which the page itself carries, so
 * that it is asked for nowhere.
 */
export function ShownOnce({ id, label, text, file }: { id: string; label: string; text: string; file?: string }) {
  const rows = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE)), 0);
  return (
    <>
      <textarea id={id} class="code" readonly rows={rows} aria-label={label} autocomplete="off" spellcheck={false}>
        {text}
      </textarea>
      <p>
        <button type="button" class="quiet" data-copies={id} hidden>
          Copy
        </button>{" "}
        <span role="status" />
        {file !== undefined && (
          <a download={file} href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}>
            Download as a file
          </a>
        )}
      </p>
    </>
  );
}

/** As many letters as stand beside each other on a phone. */
const LINE = 34;

/** What the frame of a page takes beside the rest for the button to work; nothing where no such text is shown. */
export function copying(text: string | null | undefined): { script?: string } {
  return text == null ? {} : { script: COPY };
}
