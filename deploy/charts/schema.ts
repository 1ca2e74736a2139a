import { type ChartValue, isMap } from './values.ts';

/** A JSON Schema, draft 7: what both Helm 3 and Helm 4 read. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a value must be beyond the kind of its default, by its keys joined with dots. */
export type Rules = Readonly<Record<string, Schema>>;

/** A value that must be one of `words`. */
export function oneOf(...words: readonly string[]): Schema {
  return { enum: words };
}

/** A text that has a form, or is empty where `pattern` allows it. `expected` is what the message says. */
export function textLike(pattern: string, expected: string): Schema {
  return { type: 'string', if: { pattern }, else: saying(expected) };
}

/** A whole number in a range. */
export function integer(minimum: number, maximum?: number): Schema {
  return { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) };
}

/** A map from names to texts, such as labels. */
export const TEXTS: Schema = { type: 'object', additionalProperties: { type: 'string' } };

/** A map that is passed on to Kubernetes, which judges it. */
export const PASSED_ON: Schema = { type: 'object' };

/** A list of maps that are passed on to Kubernetes. */
export const LIST_PASSED_ON: Schema = { type: 'array', items: PASSED_ON };

/**
 * Refuses whatever comes here. A validator tells what it expected of a constant and of little else in
 * words, so the words are the constant.
 */
export function saying(expected: string): Schema {
  return { const: expected };
}

/** Refuses the value at `path` with what was expected, where `when` holds. */
export interface Refusal {
  readonly when: Schema;
  readonly path: readonly string[];
  readonly expected: string;
}

/** What holds in every chart besides its own values: what Helm and a chart around it add. */
const ADDED_BY_HELM: Schema = {
  global: { type: 'object', description: 'What a chart around this one says to all of its charts' },
  enabled: { type: 'boolean', description: 'Whether a chart around this one installs it' },
  service: {
    type: 'object',
    description: 'What Helm hands to the library chart: there is nothing to set',
    properties: { global: { type: 'object' } },
    additionalProperties: false,
  },
};

export interface SchemaOptions {
  readonly title: string;
  readonly values: readonly ChartValue[];
  readonly rules: Rules;
  /** The first of them that holds is told. */
  readonly refusals?: readonly Refusal[];
  /** Keys that others add. Default: what Helm adds to a service's chart. */
  readonly added?: Schema;
}

/** The schema of a chart's values: the kinds of their defaults, their comments, the rules, nothing else. */
export function schemaOf(options: SchemaOptions): Schema {
  const { title, values, rules, refusals = [], added = ADDED_BY_HELM } = options;
  const root: Draft = { type: 'object', properties: { ...added }, additionalProperties: false };
  for (const { path, default: fallback, meaning } of values) {
    const [name = '', ...outer] = path.toReversed();
    const rule = rules[path.join('.')];
    // What has keys of its own in values.yaml keeps them: they come after it.
    if (!rule && isMap(fallback)) {
      folderOf(root, path).description = meaning;
      continue;
    }
    const { properties } = folderOf(root, outer.toReversed());
    properties[name] = { ...(rule ?? kindOf(path, fallback)), description: meaning };
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    ...root,
    ...refusals.reduceRight<Schema>((others, refusal) => refuse(refusal, others), {}),
  };
}

interface Draft {
  type: 'object';
  description?: string;
  properties: Record<string, unknown>;
  additionalProperties: false;
}

/** The map at `path`, which is made where there is none yet. */
function folderOf(root: Draft, path: readonly string[]): Draft {
  return path.reduce((folder, key) => {
    const draft = { type: 'object', properties: {}, additionalProperties: false } as const;
    folder.properties[key] ??= draft;
    return folder.properties[key] as Draft;
  }, root);
}

function kindOf(path: readonly string[], fallback: unknown): Schema {
  switch (typeof fallback) {
    case 'boolean':
      return { type: 'boolean' };
    case 'string':
      return { type: 'string' };
    case 'number':
      return Number.isInteger(fallback) ? integer(0) : { type: 'number', minimum: 0 };
    default:
      throw new TypeError(`Cannot tell the kind of "${path.join('.')}": expected a rule for it`);
  }
}

function refuse({ when, path, expected }: Refusal, others: Schema): Schema {
  const then = path.reduceRight<Schema>(
    (inner, key) => ({ properties: { [key]: inner } }),
    saying(expected),
  );
  return { if: when, then, ...(Object.keys(others).length > 0 && { else: others }) };
}

/** The schema, with every map that is closed telling which names it takes, where one is misspelled. */
export function tellingNames(schema: Schema): Schema {
  const told = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, isMap(part) ? tellingNames(part) : part]),
  );
  const { additionalProperties, properties } = schema;
  if (additionalProperties !== false || !isMap(properties)) return told;
  return { ...told, propertyNames: oneOf(...Object.keys(properties)) };
}

const LINE_WIDTH = 100;

/** A schema as the formatter of this repository leaves it: a list of words stands on one line. */
export function toJson(schema: Schema): string {
  const spread = JSON.stringify(schema, null, 2);
  const lists = /^( *(?:"[^"\n]+": )?)\[\n([^[\]{}]+?)\n *\](,?)$/gm;
  const joined = spread.replace(lists, (whole, before: string, items: string, after: string) => {
    const line = `${before}[${items.trim().replace(/,\n */g, ', ')}]${after}`;
    return line.length > LINE_WIDTH ? whole : line;
  });
  return `${joined}\n`;
}
