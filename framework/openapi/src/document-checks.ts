import { readPattern } from '@fw/core/extension';
import { aFunction, aListOf, anObject, check } from '@fw/core/options';

export const aPath = check('a path that starts with "/"', isPath);

/** What the options of a document accept. */
export const DOCUMENT_CHECKS = {
  info: check('an object such as { title, version } of strings', isInfo),
  exclude: aListOf('a list of paths such as ["/internal"]', aPath),
  toJsonSchema: aFunction,
  servers: check(
    'a list such as [{ url: "https://api.example.com" }]',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isServer),
  ),
  securitySchemes: anObject,
};

export function isPath(value: unknown): boolean {
  try {
    return typeof value === 'string' && readPattern(value, '') !== '';
  } catch {
    return false;
  }
}

function isInfo(value: unknown): boolean {
  return (
    anObject.accepts(value) &&
    ['title', 'version', 'description']
      .map((name): unknown => Reflect.get(Object(value), name))
      .every((text) => text === undefined || typeof text === 'string')
  );
}

function isServer(server: unknown): boolean {
  return anObject.accepts(server) && typeof Reflect.get(Object(server), 'url') === 'string';
}
