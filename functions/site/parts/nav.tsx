/** A page and what it is called where a way leads to it. */
export type Way = readonly [path: string, name: string];

/** The items of a list of ways; the one to the page that is shown says so. */
export function Ways({ ways, current }: { ways: readonly Way[]; current?: string | undefined }) {
  return (
    <>
      {ways.map(([path, name]) => (
        <li>
          <a href={path} {...(path === current ? { "aria-current": "page" } : {})}>
            {name}
          </a>
        </li>
      ))}
    </>
  );
}

/** The ways between pages that belong together. */
export function Nav({ label, ways, current }: { label: string; ways: readonly Way[]; current?: string | undefined }) {
  return (
    <nav aria-label={label}>
      <ul>
        <Ways ways={ways} current={current} />
      </ul>
    </nav>
  );
}
