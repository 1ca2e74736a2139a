import { isSame, type Json, type Pair, readList, readRecord, resolve } from './json.ts';

/** One line if credentials that were sufficient for an operation no longer are. */
export function compareSecurity(operations: Pair<Json>, documents: Pair<Json>): string[] {
  const before = requirementsOf(operations.before, documents.before);
  const after = requirementsOf(operations.after, documents.after);
  const isStillMet = before.every((old) => after.some((needed) => isMet(needed, old)));
  return isStillMet ? [] : [`security changed from ${print(before)} to ${print(after)}`];
}

/** The scopes that are needed of one scheme. */
interface Scheme {
  readonly name: string;
  readonly definition: Json;
  readonly scopes: readonly unknown[];
}

/** The sets of schemes of which one must be satisfied; the empty set if none is needed. */
function requirementsOf(operation: Json, document: Json): (readonly Scheme[])[] {
  const requirements = readList(operation.security ?? document.security);
  const schemes = readRecord(readRecord(document.components).securitySchemes);
  if (requirements.length === 0) return [[]];
  return requirements.map((requirement) =>
    Object.entries(readRecord(requirement)).map(([name, scopes]) => {
      const {
        description: _text,
        bearerFormat: _format,
        ...definition
      } = resolve(document, schemes[name]);
      return { name, definition, scopes: readList(scopes) };
    }),
  );
}

/** Whether a client with the credentials `given` has all that are `needed`. */
function isMet(needed: readonly Scheme[], given: readonly Scheme[]): boolean {
  return needed.every(({ definition, scopes }) =>
    given.some(
      (other) =>
        isSame(definition, other.definition) &&
        scopes.every((scope) => other.scopes.includes(scope)),
    ),
  );
}

function print(requirements: readonly (readonly Scheme[])[]): string {
  const names = requirements.map(
    (schemes) =>
      schemes
        .map(({ name, definition, scopes }) =>
          [name, definition.type ?? '', ...scopes].join(' ').trim(),
        )
        .join(' and ') || 'none',
  );
  return names.join(' or ');
}
