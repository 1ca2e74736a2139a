/** Values of a chart. */
export type Values = { readonly [name: string]: unknown };

/** Merges values deeply; later values override earlier ones, and a list replaces a list. */
export function merge(...all: readonly Values[]): Values {
  const merged: Record<string, unknown> = {};
  for (const [name, value] of all.flatMap((values) => Object.entries(values))) {
    const below = merged[name];
    merged[name] = isValues(below) && isValues(value) ? merge(below, value) : value;
  }
  return merged;
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
