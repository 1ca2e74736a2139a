import fs from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

/** One value of a chart that its `values.yaml` explains. */
export interface ChartValue {
  /** Its keys from the top: `['image', 'tag']`. */
  readonly path: readonly string[];
  readonly default: unknown;
  /** The comment above it, on one line. */
  readonly meaning: string;
}

/** The values that the comments of the chart in `folder` explain, in their order. */
export function readValues(folder: string): ChartValue[] {
  const text = fs.readFileSync(path.join(folder, 'values.yaml'), 'utf8');
  const defaults: unknown = parse(text);
  return commentedPaths(text).map(({ path: keys, meaning }) => ({
    path: keys,
    default: valueAt(defaults, keys),
    meaning,
  }));
}

/** What stands in `values` under `keys`, or nothing. */
export function valueAt(values: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) => (isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    values,
  );
}

/** Whether a value is a map: neither a list nor anything single. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys of block maps, by their indentation, that have a comment right above them. */
function commentedPaths(text: string): { path: string[]; meaning: string }[] {
  const found: { path: string[]; meaning: string }[] = [];
  const around: { indent: number; key: string }[] = [];
  let comment: string[] = [];
  for (const line of text.split('\n')) {
    const [, remark] = /^\s*# ?(.*)$/.exec(line) ?? [];
    if (remark !== undefined) {
      comment.push(remark);
      continue;
    }
    const [, spaces = '', key] = /^( *)([\w.-]+):(?: |$)/.exec(line) ?? [];
    if (key !== undefined) {
      while ((around.at(-1)?.indent ?? -1) >= spaces.length) around.pop();
      around.push({ indent: spaces.length, key });
      if (comment.length > 0) {
        found.push({ path: around.map((one) => one.key), meaning: comment.join(' ') });
      }
    }
    comment = [];
  }
  return found;
}

const TABLE = /(<!-- values -->\n).*(<!-- \/values -->)/s;

/** The README with the table of `values` between its two marks. */
export function withTable(readme: string, values: readonly ChartValue[]): string {
  if (!TABLE.test(readme)) throw new Error('Cannot write the table of values: expected its marks');
  const rows = values.map(({ path: keys, default: fallback, meaning }) => {
    const shown = fallback === '' ? '' : `\`${JSON.stringify(fallback).replaceAll('|', '\\|')}\``;
    return `| \`${keys.join('.')}\` | ${shown} | ${meaning.replaceAll('|', '\\|')} |`;
  });
  const table = ['| Value | Default | |', '|---|---|---|', ...rows].join('\n');
  return readme.replace(TABLE, (_, before: string, after: string) => `${before}${table}\n${after}`);
}
