import { request } from '@fw/core/testing';
import type { Application } from 'fw';

/**
 * Sends a request for each operation in the OpenAPI document of `app`, and requests that match none:
 * OPTIONS, an unsupported method, an unknown path, an invalid path. Returns the responses by
 * request line.
 */
export async function requestEverything(
  app: Application,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, Response>> {
  const document = (await (await request(app, '/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const lines = Object.entries(document.paths).flatMap(([template, operations]) => {
    const path = template.replace(/\{[^}]+\}/g, '1');
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    return [...methods, 'HEAD', 'OPTIONS', 'TRACE', 'LINK'].map(
      (method) => [method, path] as const,
    );
  });
  const others = [
    ['GET', '/openapi.json'],
    ['GET', '/docs'],
    ['GET', '/nowhere'],
    ['LINK', '/nowhere'],
    ['GET', '/%ZZ'],
    ['OPTIONS', '*'],
  ] as const;
  const responses = new Map<string, Response>();
  for (const [method, path] of [...lines, ...others]) {
    responses.set(`${method} ${path}`, await request(app, path, { method, headers }));
  }
  return responses;
}

/** The request lines, with the status, whose response has no `Cache-Control`. */
export function withoutCacheControl(responses: ReadonlyMap<string, Response>): readonly string[] {
  return [...responses]
    .filter(([, { headers }]) => !headers.get('cache-control'))
    .map(([line, { status }]) => `${line} ${status}`);
}

/**
 * Returns `store` with a field `passwordHash` in every object that its methods resolve with, also in
 * nested ones, for the test that no undeclared field leaves the process.
 */
export function plantField<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]) =>
        plant(await Reflect.apply(member, target, args));
    },
  });
}

function plant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plant);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const planted = Object.entries(value).map(([key, part]) => [key, plant(part)]);
  return { ...Object.fromEntries(planted), passwordHash: 'planted' };
}
