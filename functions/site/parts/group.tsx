import type { PropsWithChildren } from "hono/jsx";
import { Notes, type Wrong } from "./form.tsx";

/** Fields that are one answer together, and what is wrong with it. */
export function Group({
  legend,
  name,
  wrong,
  children,
}: PropsWithChildren<{ legend: string; name: string; wrong: Wrong | undefined }>) {
  const error = wrong?.fields.get(name);
  return (
    <fieldset id={name} {...(error === undefined ? {} : { "aria-describedby": `${name}-error` })}>
      <legend>{legend}</legend>
      {children}
      <Notes name={name} hint={undefined} error={error} />
    </fieldset>
  );
}
