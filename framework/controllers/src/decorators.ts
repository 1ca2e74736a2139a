import type { Middleware, NoParts, Returned, ValidatedBy } from '@fw/core';
import { isStandardSchema, type StandardSchema } from '@fw/validation';

import { markService, type ServiceOptions, type Type } from './container.ts';

/** The source of a parameter in the request. */
export type Source =
  | { readonly from: 'body'; readonly schema?: StandardSchema | undefined }
  | { readonly from: 'query'; readonly schema?: StandardSchema | undefined }
  | {
      readonly from: 'params';
      readonly name: string;
      readonly schema?: StandardSchema | undefined;
    };

/** A method of a controller that handles requests. */
export interface Action {
  readonly method: string;
  readonly path: string;
  readonly middleware: readonly Middleware[];
  readonly name: string;
}

interface ControllerMark {
  readonly path: string;
  readonly middleware: readonly Middleware[];
}

const controllers = new WeakMap<object, ControllerMark>();
const actions = new WeakMap<object, Action[]>();
/** The sources of parameters, by prototype and method. */
const sources = new WeakMap<object, Map<string, Map<number, Source>>>();

type ParameterTarget = (prototype: object, method: string | symbol, index: number) => void;

/** Declares a controller: its methods handle requests below `path`, after `middleware`. */
export function Controller(path = '/', ...middleware: readonly Middleware[]) {
  return (type: Type): void => {
    controllers.set(type, { path, middleware });
    markService(type);
  };
}

/** Declares a class that can be injected. */
export function Service(options: ServiceOptions = {}) {
  return (type: Type): void => markService(type, options);
}

/** Registers the method for GET at a path under that of its controller. */
export const Get = action('GET');
/** Registers the method for POST. */
export const Post = action('POST');
/** Registers the method for PUT. */
export const Put = action('PUT');
/** Registers the method for PATCH. */
export const Patch = action('PATCH');
/** Registers the method for DELETE. */
export const Delete = action('DELETE');

/** A method whose result fits the contract of its `endpoint()`. */
interface Returning<Value> {
  readonly value?: (...args: never[]) => Value;
}

/** Creates the decorator of an HTTP method. */
function action(method: string) {
  return <const Layers extends readonly Middleware[]>(path = '/', ...middleware: Layers) =>
    <Value>(
      prototype: object,
      name: string | symbol,
      _method?: Returning<Returned<Value, ValidatedBy<Layers, NoParts>>>,
    ): void => {
      const present = actions.get(prototype) ?? [];
      present.push({ method, path, middleware, name: String(name) });
      actions.set(prototype, present);
    };
}

/** The parameter receives the request body, validated by `schema`. */
export function Body(schema?: StandardSchema): ParameterTarget {
  return source({ from: 'body', schema });
}

/** The parameter receives the query, validated by `schema`. */
export function Query(schema?: StandardSchema): ParameterTarget {
  return source({ from: 'query', schema });
}

/** The parameter receives the path parameter `name`, validated by `schema`. */
export function Param(name: string, schema?: StandardSchema): ParameterTarget {
  return source({ from: 'params', name, schema });
}

function source(argument: Source): ParameterTarget {
  if (argument.schema !== undefined && !isStandardSchema(argument.schema)) {
    throw new TypeError(
      `Cannot take the ${argument.from} by "${String(argument.schema)}": expected a Standard Schema`,
    );
  }
  return (prototype, method, index) => {
    const methods = sources.get(prototype) ?? new Map<string, Map<number, Source>>();
    const ofMethod = methods.get(String(method)) ?? new Map<number, Source>();
    sources.set(prototype, methods.set(String(method), ofMethod.set(index, argument)));
  };
}

/** Whether `value` is a class marked with `@Controller`. */
export function isController(value: unknown): value is Type {
  return typeof value === 'function' && controllers.has(value);
}

/** The arguments of `@Controller` on `type`. */
export function controllerOf(type: Type): ControllerMark | undefined {
  return controllers.get(type);
}

/** The actions of `type`, inherited ones first; the last declaration of a method wins. */
export function actionsOf(type: Type): Action[] {
  const lists = prototypesOf(type).map((prototype) => actions.get(prototype) ?? []);
  return lists.flatMap((list, index) => {
    const nearer = new Set(
      lists.slice(index + 1).flatMap((later) => later.map(({ name }) => name)),
    );
    return list.filter(({ name }) => !nearer.has(name));
  });
}

/**
 * The sources of a method's parameters, by index, in ascending order. A parameter without a decorator
 * inherits the source from the overridden method. A repeated decorator without a schema inherits the schema.
 */
export function sourcesOf(type: Type, method: string): ReadonlyMap<number, Source> {
  const found = new Map<number, Source>();
  for (const prototype of prototypesOf(type)) {
    const inherited = [...found.values()];
    for (const [index, source] of sources.get(prototype)?.get(method) ?? []) {
      found.set(index, withSchema(source, inherited));
    }
  }
  // Decorators run from the last parameter to the first.
  return new Map([...found].sort(([a], [b]) => a - b));
}

/** `source` with its own schema, or else with the schema of the same source in `inherited`. */
function withSchema(source: Source, inherited: readonly Source[]): Source {
  if (source.schema) return source;
  const same = inherited.find((other) => other.schema && isSameSource(other, source));
  return same ?? source;
}

function isSameSource(a: Source, b: Source): boolean {
  if (a.from === 'params' && b.from === 'params') return a.name === b.name;
  return a.from === b.from;
}

function prototypesOf(type: Type): object[] {
  const found: object[] = [];
  for (let at: unknown = type.prototype; at instanceof Object; at = Object.getPrototypeOf(at)) {
    found.unshift(at);
  }
  return found;
}
