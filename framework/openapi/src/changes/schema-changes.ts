import { type Alternative, alternativesOf, isSubtype, lookUp } from '@fw/core/schema';

import {
  isSame,
  type Json,
  mapPair,
  type Pair,
  print,
  readList,
  readRecord,
  resolveBoth,
} from './json.ts';
import { findViolations, isOneOf, type Violation, valuesOf } from './keywords.ts';

/** What a comparison of two schemas needs to know. */
export interface SchemaComparison {
  readonly documents: Pair<Json>;
  /** A new request schema must accept all old values; a new response schema must allow only old values. */
  readonly direction: 'request' | 'response';
  /** Which schemas these are: `response 200 application/json`. */
  readonly where: string;
  /** The field that is being compared: `data[].email`. Default: the whole value. */
  readonly field?: string;
  /** The pairs that are being compared: a schema may contain itself. */
  readonly open?: readonly Pair<unknown>[];
}

/** One line for each change from `before` to `after` that can break a client. */
export function compareSchemas(schemas: Pair<unknown>, comparison: SchemaComparison): string[] {
  const { documents, direction, open = [] } = comparison;
  const { before, after } = schemas;
  const names = mapPair(schemas, nameOf);
  if (open.some((pair) => pair.before === names.before && pair.after === names.after)) return [];
  const inner = { ...comparison, open: [...open, names] };
  const sides = {
    before: readAlternatives(before, documents.before),
    after: readAlternatives(after, documents.after),
  };
  const { narrow, wide } = order(sides, direction);
  const known = narrow.filter(({ type }) => wide.some((other) => isSubtype(type, other.type)));
  return [
    ...(known.length < narrow.length
      ? [line(comparison, changed('type', mapPair(sides, typesOf)))]
      : []),
    ...compareDefaults(schemas, comparison),
    ...known.flatMap((alternative) =>
      fewest(
        wide
          .filter(({ type }) => isSubtype(alternative.type, type))
          .map((other) => compareAlternatives({ narrow: alternative, wide: other }, inner)),
      ),
    ),
  ];
}

/**
 * One line for each code of a problem (RFC 9457) that is removed, and for each change of the others. Further
 * codes break no client, as further statuses do not.
 */
export function compareProblems(schemas: Pair<unknown>, comparison: SchemaComparison): string[] {
  const { documents } = comparison;
  const before = problemsOf(schemas.before, documents.before);
  const after = problemsOf(schemas.after, documents.after);
  if (before.size === 0 || after.size === 0) return compareSchemas(schemas, comparison);
  return [...before].flatMap(([code, problem]) =>
    after.has(code)
      ? compareSchemas({ before: problem, after: after.get(code) }, comparison)
      : [line(comparison, `the code ${print(code)} is removed`)],
  );
}

/** The alternatives of a problem by code, without their lists of codes; none if one has no list. */
function problemsOf(schema: unknown, document: Json): ReadonlyMap<unknown, { anyOf: Json[] }> {
  const problems = new Map<unknown, { anyOf: Json[] }>();
  for (const alternative of readAlternatives(schema, document)) {
    const codes = readAlternatives(propertiesOf(alternative).get('code'), document).flatMap(
      (each) => valuesOf(each, 'enum').flatMap(readList),
    );
    if (codes.length === 0) return new Map();
    const allOf = alternative.parts.map(({ properties, ...part }) => ({
      ...part,
      properties: { ...readRecord(properties), code: true },
    }));
    for (const code of codes) {
      problems.set(code, { anyOf: [...(problems.get(code)?.anyOf ?? []), { allOf }] });
    }
  }
  return problems;
}

/** A schema that refers to itself without a field in between adds no values. */
function readAlternatives(schema: unknown, document: Json): Alternative[] {
  return alternativesOf(
    schema,
    (ref, followed) => !followed.includes(ref) && lookUp(document, ref),
  );
}

/** The reference that `schema` is, or itself. */
function nameOf(schema: unknown): unknown {
  return readRecord(schema).$ref ?? schema;
}

/** Which of two states must accept only values that the other accepts. */
function order<T>({ before, after }: Pair<T>, direction: 'request' | 'response') {
  return direction === 'request'
    ? { narrow: before, wide: after }
    : { narrow: after, wide: before };
}

function typesOf(alternatives: readonly Alternative[]): string {
  return [...new Set(alternatives.map(({ type }) => type))].join(' or ') || 'none';
}

function changed(what: string, { before, after }: Pair<string>): string {
  return `${what} changed from ${before} to ${after}`;
}

/** The shortest list: the difference from the most similar alternative. */
function fewest(lists: readonly string[][]): string[] {
  return lists.reduce((best, list) => (list.length < best.length ? list : best));
}

/** The default of a request value is what a client gets that omits it. */
function compareDefaults(schemas: Pair<unknown>, comparison: SchemaComparison): string[] {
  const { documents, direction } = comparison;
  const defaults = mapPair(resolveBoth(documents, schemas), (schema) => schema.default);
  const { before, after } = defaults;
  if (direction === 'response' || before === undefined || isSame(before, after)) return [];
  return [line(comparison, changed('default', mapPair(defaults, print)))];
}

interface Alternatives {
  readonly narrow: Alternative;
  readonly wide: Alternative;
}

function compareAlternatives(alternatives: Alternatives, comparison: SchemaComparison): string[] {
  const { narrow, wide } = alternatives;
  const isRequest = comparison.direction === 'request';
  const pair = isRequest ? { before: narrow, after: wide } : { before: wide, after: narrow };
  return [
    ...findViolations(narrow, wide).map((violation) =>
      line(comparison, describeViolation(violation, isRequest)),
    ),
    ...compareRequired(pair, comparison),
    ...compareProperties(pair, comparison),
    ...compareOtherProperties(pair, comparison),
    ...compareSchemas(
      mapPair(pair, (side) => schemaOf(side, 'items')),
      { ...comparison, field: `${comparison.field ?? ''}[]` },
    ),
    ...compareSchemas(
      mapPair(pair, (side) => schemaOf(side, 'contentSchema')),
      comparison,
    ),
  ];
}

function describeViolation({ keyword, narrow, wide }: Violation, isRequest: boolean): string {
  if (keyword === 'enum' && Array.isArray(narrow)) {
    const values = narrow.filter((value) => !isOneOf(wide)(value)).map(print);
    return `the value ${values.join(', ')} is ${isRequest ? 'removed' : 'added'}`;
  }
  const [before, after] = isRequest ? [narrow, wide] : [wide, narrow];
  return changed(keyword, { before: print(before), after: print(after) });
}

function compareRequired(
  { before, after }: Pair<Alternative>,
  comparison: SchemaComparison,
): string[] {
  const [old, given] = [requiredOf(before), requiredOf(after)];
  if (comparison.direction === 'request') {
    const added = given.filter((name) => !old.includes(name));
    const known = propertiesOf(before);
    return added.map((name) =>
      line(inField(comparison, name), `${known.has(name) ? 'becomes' : 'is new and'} required`),
    );
  }
  const kept = old.filter((name) => propertiesOf(after).has(name));
  const optional = kept.filter((name) => !given.includes(name));
  return optional.map((name) => line(inField(comparison, name), 'can be absent'));
}

function requiredOf(alternative: Alternative): string[] {
  return valuesOf(alternative, 'required').flatMap((names) => readList(names).map(String));
}

function compareProperties(
  { before, after }: Pair<Alternative>,
  comparison: SchemaComparison,
): string[] {
  const given = propertiesOf(after);
  return [...propertiesOf(before)].flatMap(([name, schema]) => {
    const inner = inField(comparison, name);
    return given.has(name)
      ? compareSchemas({ before: schema, after: given.get(name) }, inner)
      : [line(inner, 'is removed')];
  });
}

/** The schema of each property; a property that several parts describe must satisfy all of them. */
function propertiesOf(alternative: Alternative): ReadonlyMap<string, unknown> {
  const schemas = new Map<string, unknown>();
  for (const [name, schema] of valuesOf(alternative, 'properties')
    .map(readRecord)
    .flatMap(Object.entries)) {
    schemas.set(name, schemas.has(name) ? { allOf: [schemas.get(name), schema] } : schema);
  }
  return schemas;
}

/** Clients ignore unknown fields of a response, so only their types matter there. */
function compareOtherProperties(
  alternatives: Pair<Alternative>,
  comparison: SchemaComparison,
): string[] {
  const schemas = mapPair(alternatives, (side) => schemaOf(side, 'additionalProperties'));
  if (schemas.before === false) return [];
  if (schemas.after !== false) return compareSchemas(schemas, inField(comparison, '*'));
  return comparison.direction === 'request' ? [line(comparison, 'rejects other fields')] : [];
}

function schemaOf(alternative: Alternative, keyword: string): unknown {
  const [schema = true] = valuesOf(alternative, keyword);
  return schema;
}

function inField(comparison: SchemaComparison, name: string): SchemaComparison {
  const { field } = comparison;
  return { ...comparison, field: field ? `${field}.${name}` : name };
}

function line({ where, field }: SchemaComparison, what: string): string {
  return `${field ? `${where} ${field}` : where}: ${what}`;
}
