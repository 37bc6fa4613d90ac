const NAME = "_before";

/** The hidden field with what a form held before anything was typed, so that what was left as it stood can be told. */
export function Before({ held, typed }: { held: URLSearchParams; typed: URLSearchParams | undefined }) {
  return <input type="hidden" name={NAME} value={typed?.get(NAME) ?? held.toString()} />;
}

/** What a form that was sent held before anything was typed. */
export function heldBefore(form: URLSearchParams): URLSearchParams {
  return new URLSearchParams(form.get(NAME) ?? "");
}
