import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { Item } from './item.ts';

/** The items of a file, and a word that is another one when the file is. */
export interface ItemData {
  readonly items: readonly Item[];
  readonly version: string;
}

/**
 * Reads a file with one item a line, as JSON.
 *
 * @throws {Error} naming the file, and the line, if there is none such or an item is not as it should be
 */
export function readItems(file: string): ItemData {
  try {
    const content = readFileSync(file);
    const lines = content.toString('utf8').trimEnd().split('\n');
    const version = createHash('sha256').update(content).digest('hex');
    const items = lines.map((line, at) => readLine(line, at + 1));
    if (new Set(items.map(({ id }) => id)).size < items.length)
      throw new Error('an id stands twice');
    return { items, version };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read items from "${file}": ${reason}`, { cause: error });
  }
}

function readLine(line: string, number: number): Item {
  const fields = parseObject(line);
  const refuse = (name: string, expected: string) =>
    new Error(`line ${number}: ${name} must be ${expected}`);
  const readText = (name: string): string => {
    const value = fields?.get(name);
    if (typeof value !== 'string' || value === '') throw refuse(name, 'a text');
    return value;
  };
  const readCount = (name: string, least: number): number => {
    const value = fields?.get(name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
    throw refuse(name, `an integer of at least ${least}`);
  };
  const readTexts = (name: string): readonly string[] => {
    const value = fields?.get(name);
    if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
    throw refuse(name, 'a list of texts');
  };

  if (!fields) throw new Error(`line ${number}: expected a JSON object`);
  return {
    id: readCount('id', 1),
    name: readText('name'),
    category: readText('category'),
    brand: readText('brand'),
    priceCents: readCount('price_cents', 0),
    currency: readText('currency'),
    description: readText('description'),
    tags: readTexts('tags'),
  };
}

function parseObject(line: string): Map<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
