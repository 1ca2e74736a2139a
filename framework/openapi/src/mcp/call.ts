import { isUtf8 } from 'node:buffer';

import { BadRequestError, type Context, HttpError } from '@fw/core';
import { type DispatchedResponse, dispatch, problemOfStatus, titleOf } from '@fw/core/extension';
import { isRecord } from '@fw/core/schema';

import type { Argument, Tool } from './tools.ts';

/** Maximum size of the response of an operation: more does not fit into the context of a model. */
const RESPONSE_BYTES = 1024 ** 2;

/**
 * Calls an operation with the arguments of a tool, in the name of the client of `ctx`. Returns the JSON of
 * a `CallToolResult`; an operation that fails is a result with `isError`.
 */
export async function callTool(
  ctx: Context,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  try {
    const { url, headers, body } = createRequest(tool, args);
    const response = await dispatch(ctx, {
      route: tool.route,
      url,
      headers: Object.assign(headersOfClient(ctx), headers),
      body,
      via: 'mcp',
      limitBytes: RESPONSE_BYTES,
    });
    return resultOf(response, tool);
  } catch (error) {
    const status = error instanceof HttpError ? error.status : 500;
    const detail = error instanceof Error ? error.message : String(error);
    return errorResult(JSON.stringify({ ...problemOfStatus(status, ctx.requestId), detail }));
  }
}

/**
 * The headers that describe the message of the client and not the client: they do not apply to the
 * operation. A condition or a key for repetition is an argument of the tool.
 */
const HEADER_OF_MESSAGE =
  /^(?:content-.*|mcp-.*|if-.*|accept(?:-encoding)?|connection|expect|host|idempotency-key|keep-alive|last-event-id|proxy-connection|range|te|trailer|transfer-encoding|upgrade)$/;

function headersOfClient(ctx: Context): Record<string, string | string[] | undefined> {
  const headers: Record<string, string | string[] | undefined> = {};
  for (const name in ctx.headers) {
    if (!HEADER_OF_MESSAGE.test(name)) headers[name] = ctx.headers[name];
  }
  headers.accept = 'application/json, */*;q=0.5';
  headers['x-request-id'] = ctx.requestId;
  return headers;
}

/**
 * The variable parts of the request.
 *
 * @throws {HttpError} if an argument cannot be sent; the operation itself checks the values
 */
function createRequest({ route, arguments: known }: Tool, args: Readonly<Record<string, unknown>>) {
  const path = new Map<string, string>();
  let query: URLSearchParams | undefined;
  const headers: Record<string, string> = {};
  let body: string | undefined;
  let room = maxHeaderSize;
  // Encoding takes much longer than parsing: what cannot fit is rejected before.
  const textOf = (name: string, value: unknown): string => {
    const text = toText(name, value);
    room -= name.length + text.length;
    if (room < 0) throw headTooLarge();
    return text;
  };
  for (const [name, value] of Object.entries(args)) {
    const argument = known.get(name);
    if (!argument) {
      const names = [...known.keys()].join(', ') || 'none';
      throw new BadRequestError(`"${name.slice(0, 100)}" is not an argument; arguments: ${names}`);
    }
    if (argument.in === 'body') body = JSON.stringify(value);
    else if (value === null)
      continue; // models send null for what they leave out
    else if (argument.in === 'query') {
      query ??= new URLSearchParams();
      const values = Array.isArray(value) ? value : [value];
      for (const each of values) query.append(argument.name, textOf(name, each));
    } else {
      const text = textOf(name, value);
      if (argument.in === 'path') path.set(argument.name, segmentOf(name, text, argument));
      else headers[argument.name.toLowerCase()] = fieldOf(name, text);
    }
  }
  if (body !== undefined) {
    headers['content-type'] = known.get('body')?.name ?? '';
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  const target = route.template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const segment = path.get(name);
    if (segment === undefined) throw new BadRequestError(`The argument "${name}" is required`);
    return segment;
  });
  const url = query?.size ? `${target}?${query}` : target;
  requireFittingHead(url, headers);
  return { url, headers, body };
}

/** JSON.parse rounds a number of more than 53 bits: it would be the id of another resource. */
function toText(name: string, value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new BadRequestError(
    `The argument "${name}" must be text, true, false or a number below 2^53`,
  );
}

/** An empty segment would make the request one for another path, such as that of the whole list. */
function segmentOf(name: string, text: string, { isWildcard }: Argument): string {
  if (text === '') throw new BadRequestError(`The argument "${name}" must not be empty`);
  return isWildcard ? text.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(text);
}

/** Printable ASCII and blanks, which every parser reads alike (RFC 9110 §5.5). */
function fieldOf(name: string, text: string): string {
  if (/^[\t -~]*$/.test(text)) return text.trim();
  throw new BadRequestError(`The argument "${name}" must be printable ASCII`);
}

/** `import` would load much more. */
const { maxHeaderSize } = process.getBuiltinModule('node:http');

/** @throws {HttpError} 431, as the HTTP parser does for a head that is too large */
function requireFittingHead(url: string, headers: Readonly<Record<string, string>>): void {
  const size = Object.values(headers).reduce((sum, { length }) => sum + length, url.length);
  if (size > maxHeaderSize) throw headTooLarge();
}

function headTooLarge(): HttpError {
  return new HttpError(431, `The arguments need more than ${maxHeaderSize} bytes of the head`);
}

function resultOf({ status, headers, body }: DispatchedResponse, tool: Tool): string {
  if (!isUtf8(body)) return errorResult(`The response is not text: ${headers['content-type']}`);
  const text = body.toString();
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    return errorResult(`${titleOf(status)}: ${headers.location}`);
  }
  if (status >= 300) return errorResult(text || `${status} ${titleOf(status)}`);
  if (!tool.hasOutput) return `{"content":${contentOf(text || titleOf(status))}}`;
  if (!isObject(text)) return errorResult('The response does not have the declared form');
  return `{"content":${contentOf(text)},"structuredContent":${text}}`;
}

function errorResult(text: string): string {
  return `{"content":${contentOf(text)},"isError":true}`;
}

function contentOf(text: string): string {
  return `[{"type":"text","text":${JSON.stringify(text)}}]`;
}

function isObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
