/** A name that no schema of a test declares. */
const UNDECLARED = 'undeclared';

/** `value` with an undeclared field in each object. */
export function addUndeclared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addUndeclared);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, addUndeclared(field)]);
  return { ...Object.fromEntries(fields), [UNDECLARED]: { secret: 1 } };
}
