/**
 * A text that is shown this once, to be copied by hand, or by a button where the page has the script `COPY`; with `file` as
 * a file of that name, too, which the page itself carries, so that it is asked for nowhere.
 */
export function ShownOnce({ id, text, file }: { id: string; text: string; file?: string }) {
  return (
    <>
      <pre id={id}>{text}</pre>
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
