import fs from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import type { Target } from './targets.ts';

/** A request that ends in the middle: the client closes its side after these bytes. */
interface CutRequest {
  readonly cut: string;
}

/** A row of `requests.yaml`, which describes the notation. */
export type Row = readonly [
  title: string,
  source: string,
  bytes: string | CutRequest,
  direct: string,
  edge?: string,
];

/** The rows by topic. */
export const TOPICS: Readonly<Record<string, readonly Row[]>> = parse(
  fs.readFileSync(path.join(import.meta.dirname, 'requests.yaml'), 'utf8'),
);

/** The id of every request that must not be handled. */
export const SMUGGLED_ID = 'smuggled';

/** A valid request, of 95 bytes with GET: the lengths in the table depend on it. */
function smuggled(method: string, { path: valid }: Target): string {
  const pad = 'x'.repeat(40 - valid.length);
  return `${method} ${valid} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${SMUGGLED_ID}\r\nX: ${pad}\r\n\r\n`;
}

/** The bytes of a row for a target, and whether the client closes its side after them. */
export function bytesOf([, , bytes]: Row, target: Target) {
  const isCut = typeof bytes !== 'string';
  const text = (isCut ? bytes.cut : bytes)
    .replaceAll('‹service›', target.service)
    .replaceAll('‹smuggled›', smuggled('GET', target))
    .replaceAll('‹smuggled HEAD›', smuggled('HEAD', target))
    .replace(/‹(\d+)×([^›]+)›/g, (_, count: string, unit: string) =>
      Array.from({ length: Number(count) }, (__, index) => unit.replace('#', `${index}`)).join(''),
    );
  return { bytes: text, isCut };
}

/** The outcomes of a row that are permitted at `target`, such as `400 close`. */
export function permittedOutcomes([, , , direct, edge = direct]: Row, target: Target): string[] {
  const outcomes = (target.way === 'edge' ? edge : direct).split(' | ');
  return outcomes.flatMap((outcome) => resolve(outcome, target));
}

function resolve(outcome: string, { ok, created }: Target): string[] {
  const text = outcome
    .replace(/\bok\b/g, String(ok))
    .replace(/\bcreated\b/g, String(created))
    .replace(/\d+\+/g, (status) => (ok === 401 ? '401' : status.slice(0, -1)));
  const afterBody = text.replaceAll('*', '');
  const takesPost = created === 201;
  return takesPost || afterBody === text ? [afterBody] : [afterBody, text.replace(/\d+\*/g, '405')];
}
