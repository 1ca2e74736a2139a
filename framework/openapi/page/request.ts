import type { Api, Operation, Parameter, Schema } from './api.ts';
import { exampleOf } from './example.ts';

/** The values that a reader entered for one operation. */
export interface Draft {
  readonly values: Map<string, string>;
  body: string;
}

/** The server and the credentials of all operations, kept as long as the page is open. */
export interface Session {
  server: string;
  readonly credentials: Map<string, string>;
  /** Called when either changed. */
  readonly listeners: Set<() => void>;
}

export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export function keyOf(parameter: Parameter): string {
  return `${parameter.in}:${parameter.name}`;
}

/** The request of a draft. Required values that are not entered yet are examples. */
export function prepare(
  api: Api,
  operation: Operation,
  { draft, session }: { draft: Draft; session: Session },
): PreparedRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let path = operation.path;
  for (const parameter of operation.parameters ?? []) {
    const filled = draft.values.get(keyOf(parameter)) ?? '';
    const value = filled || (parameter.required ? placeholderOf(api, parameter) : '');
    if (value === '') continue;
    if (parameter.in === 'path')
      path = path.replace(`{${parameter.name}}`, encodeValue(parameter, value));
    else if (parameter.in === 'header') headers[parameter.name] = value;
    else if (parameter.in === 'query') {
      for (const each of parameter.schema.type === 'array' ? value.split(',') : [value]) {
        query.append(parameter.name, each.trim());
      }
    }
  }
  for (const [name, scheme] of schemesOf(api, operation)) {
    const secret = session.credentials.get(name) || 'YOUR_TOKEN';
    if (scheme.type === 'apiKey' && scheme.in === 'query') query.set(scheme.name ?? name, secret);
    else if (scheme.type === 'apiKey') headers[scheme.name ?? name] = secret;
    else
      headers.Authorization =
        scheme.scheme === 'basic' ? `Basic ${btoa(secret)}` : `Bearer ${secret}`;
  }
  const body = operation.requestBody ? draft.body : undefined;
  if (body) headers['Content-Type'] = Object.keys(operation.requestBody?.content ?? {})[0] ?? '';
  const search = query.size > 0 ? `?${query}` : '';
  const url = session.server.replace(/\/$/, '') + path + search;
  return { method: operation.method, url, headers, body: body || undefined };
}

/** A value as one segment; the value of a wildcard keeps its slashes. */
function encodeValue({ 'x-wildcard': isWildcard }: Parameter, value: string): string {
  return isWildcard
    ? value.split('/').map(encodeURIComponent).join('/')
    : encodeURIComponent(value);
}

/** An example of a parameter, as text. */
export function placeholderOf(api: Api, parameter: Parameter): string {
  const { format }: Schema = parameter.schema;
  if (/(?:^|_)id$/i.test(parameter.name) && !format) return '42';
  const example = exampleOf(api, parameter.schema);
  if (Array.isArray(example)) return example.join(',');
  if (example === 'text' || typeof example === 'object')
    return parameter['x-wildcard'] ? 'a/b' : parameter.name;
  return String(example);
}

export interface SecurityScheme {
  readonly type: string;
  readonly scheme?: string;
  readonly in?: string;
  readonly name?: string;
}

/** The schemes of the first security requirement of an operation. */
export function schemesOf(api: Api, operation: Operation): [string, SecurityScheme][] {
  const names = Object.keys(operation.security?.[0] ?? {});
  return names.map((name) => [name, api.components.securitySchemes?.[name] as SecurityScheme]);
}

/** A request as a command for a POSIX shell. */
export function toCurl({ method, url, headers, body }: PreparedRequest): string {
  const lines = [
    `curl ${method === 'GET' ? '' : method === 'HEAD' ? '--head ' : `-X ${method} `}${quote(url)}`,
  ];
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-d ${quote(body)}`);
  return lines.join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A request as JavaScript. */
export function toFetch({ method, url, headers, body }: PreparedRequest): string {
  const init = {
    ...(method !== 'GET' && { method }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body: '…' }),
  };
  const options =
    Object.keys(init).length === 0
      ? ''
      : `, ${JSON.stringify(init, null, 2)
          .replace(/^(\s*)"(method|headers|body)":/gm, '$1$2:')
          .replace('"…"', () => `JSON.stringify(${body?.replaceAll('\n', '\n  ')})`)}`;
  return `const response = await fetch(${JSON.stringify(url)}${options});\nconst data = await response.json();`;
}
