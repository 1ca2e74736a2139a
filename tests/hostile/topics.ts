import { bodies } from './cases/bodies.ts';
import { chunks } from './cases/chunks.ts';
import { connections } from './cases/connections.ts';
import { contentLength } from './cases/content-length.ts';
import { fieldValues } from './cases/field-values.ts';
import { headerFields } from './cases/header-fields.ts';
import { host } from './cases/host.ts';
import { incomplete } from './cases/incomplete.ts';
import { methods } from './cases/methods.ts';
import { requestLine } from './cases/request-line.ts';
import { smuggling } from './cases/smuggling.ts';
import { targets } from './cases/targets.ts';
import { trailers } from './cases/trailers.ts';
import { transferEncoding } from './cases/transfer-encoding.ts';
import type { Topic } from './cases.ts';

/** The table: rows by topic. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  'request line': requestLine,
  methods,
  'request target': targets,
  host,
  'header fields': headerFields,
  'Content-Length': contentLength,
  'Transfer-Encoding': transferEncoding,
  chunks,
  trailers,
  smuggling,
  connections,
  incomplete,
  'field values': fieldValues,
  bodies,
};
