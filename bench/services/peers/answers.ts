/** The schema of a route's answers by status: what each status has, as the properties of an object. */
export function answers(byStatus: Readonly<Record<number, Readonly<Record<string, unknown>>>>) {
  const response = Object.fromEntries(
    Object.entries(byStatus).map(([status, properties]) => [status, objectOf(properties)]),
  );
  return { response };
}

export function objectOf(properties: Readonly<Record<string, unknown>>) {
  return { type: 'object', properties } as const;
}

export function listOf(items: unknown) {
  return { type: 'array', items } as const;
}

export const text = { type: 'string' } as const;
export const date = { type: 'string', format: 'date-time' } as const;
export const integer = { type: 'integer' } as const;
export const truth = { type: 'boolean' } as const;
