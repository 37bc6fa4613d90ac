/**
 * The endpoints in an order in which none hides another. The first one that fits a request serves it, so a name goes
 * before a parameter in the same place of the path: `/runs/export` is not the run whose id is "export".
 */
export function namesFirst<Place extends { path: string }>(endpoints: readonly Place[]): Place[] {
  const places = endpoints.map((one): [string, Place] => [shapeOf(one.path), one]);
  return places.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, one]) => one);
}

/**
 * A path without the names of its parameters. In the order of character codes a brace comes after everything that names
 * are made of.
 */
export function shapeOf(path: string): string {
  return path.replaceAll(/\{\w+\}/g, "{");
}
