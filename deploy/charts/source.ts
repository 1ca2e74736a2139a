import fs from 'node:fs';
import path from 'node:path';

import type { AnyVariables } from '@fw/service';
import { parse } from 'yaml';
import * as z from 'zod';

import { CHARTS } from './folder.ts';

/** One value of a chart. */
export interface ChartValue {
  /** Its keys from the top: `['image', 'tag']`. */
  readonly path: readonly string[];
  readonly default: unknown;
  /** The text after `# --`. */
  readonly description: string;
  /** The text after `# @schema`, if there is one. */
  readonly schema?: string;
}

/** Replacements of `<name>` in a source. */
type Words = Readonly<Record<string, string>>;

/**
 * The values of a chart as text, with `# @schema` comments: `values/<file>.yaml` with the files that it
 * includes, without the blocks that `# @for` reserves for charts with other traits.
 */
export function readSource(
  file: string,
  words: Words = {},
  traits: readonly string[] = [],
): string {
  const text = `${includeAll(file, words).join('\n')}\n`;
  const block = /^( *)# @for (\w+)\n((?:\1#.*\n)*\1\w.*\n(?:(?:\1 .*)?\n)*)/gm;
  return text.replace(block, (_, __, trait: string, kept: string) =>
    traits.includes(trait) ? kept : '',
  );
}

function includeAll(file: string, words: Words): string[] {
  const text = fs.readFileSync(path.join(CHARTS, 'values', `${file}.yaml`), 'utf8');
  return text
    .trimEnd()
    .replace(/<(\w+)>/g, (whole, word: string) => words[word] ?? whole)
    .split('\n')
    .flatMap((line) => {
      const [, indent, name, more] = /^( *)# @include ([\w-]+)(?: (\{.*\}))?$/.exec(line) ?? [];
      if (name === undefined) return [line];
      const lines = includeAll(name, { ...words, ...parse(more ?? '{}') });
      return lines.map((one) => (one === '' ? '' : `${indent}${one}`));
    });
}

/**
 * Completes the block `config` with the variables of a service. A variable that the source does not list has
 * the description of the service, one without a value has the default of the service.
 *
 * @throws {Error} naming a listed variable without a description
 */
export function withVariables(source: string, variables: AnyVariables): string {
  const { properties = {} } = z.toJSONSchema(z.object(variables), { unrepresentable: 'any' });
  return source.replace(/^config:\n((?: {2}.*\n)+)/m, (_, block: string) => {
    const [, undescribed] = /^(?! {2}# -- ).*\n {2}(\w+):/m.exec(`config:\n${block}`) ?? [];
    if (undescribed !== undefined) {
      throw new Error(
        `Cannot read config.${undescribed}: expected "# -- text" in the line above it`,
      );
    }
    const listed = new Map(
      [...block.matchAll(/( {2}# .*\n) {2}([A-Z0-9_]+): ?(.*)\n/g)].map(
        ([, comment, name, value]) => [name, { comment, value }] as const,
      ),
    );
    const entries = Object.entries(properties).map(([name, property]) => {
      const { description = '', unit, ...schema } = Object(property);
      const { default: fallback = '' } = schema;
      const meaning = unit ? `${description} (${unit})` : description;
      const sentence = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
      const { comment = `  # -- ${sentence}\n`, value } = listed.get(name) ?? {};
      return (
        `${comment}  # @schema ${JSON.stringify(schemaOfVariable(name, schema))}\n` +
        `  ${name}: ${value || (fallback === '' ? '""' : fallback)}\n`
      );
    });
    return `config:\n${entries.join('')}`;
  });
}

/** What the chart accepts for a variable; an empty URL, day or word is not set. */
function schemaOfVariable(name: string, schema: Readonly<Record<string, unknown>>): unknown {
  const { type, enum: words, default: fallback, minimum, maximum, format } = schema;
  if (format === 'uri') return 'optionalUrl';
  if (format === 'date') return 'optionalDay';
  if (Array.isArray(words) && fallback === undefined) return { type, enum: ['', ...words] };
  // Without a limit for requests, the grace period would have none either.
  return { type, enum: words, minimum: name === 'REQUEST_TIMEOUT_MS' ? 1 : minimum, maximum };
}

/** The values in `source` that have a description, in their order. */
export function valuesOf(source: string): ChartValue[] {
  const defaults: unknown = parse(source);
  const found: ChartValue[] = [];
  const parents: { indent: number; key: string }[] = [];
  let description: string | undefined;
  let schema: string | undefined;
  for (const line of source.split('\n')) {
    const [, tag, text] = /^ *# (--|@schema) (.*)$/.exec(line) ?? [];
    if (tag === '--') description = text;
    if (tag === '@schema') schema = text;
    const [, indent = '', key] = /^( *)([\w.-]+):(?: |$)/.exec(line) ?? [];
    if (key === undefined) continue;
    while ((parents.at(-1)?.indent ?? -1) >= indent.length) parents.pop();
    parents.push({ indent: indent.length, key });
    const keys = parents.map((parent) => parent.key);
    if (description !== undefined) {
      found.push({
        path: keys,
        default: valueAt(defaults, keys),
        description,
        ...(schema !== undefined && { schema }),
      });
    }
    description = undefined;
    schema = undefined;
  }
  return found;
}

/** The part of `values` at `keys`, or undefined. */
function valueAt(values: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), values);
}

/** Whether a value is a map: neither a list nor a scalar. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
