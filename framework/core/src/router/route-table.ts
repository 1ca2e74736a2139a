import { foldCase } from '../request/path.ts';
import { namesIn } from './pattern.ts';
import type { Registration, Route, TableMatch } from './route.ts';

/** The routes of one router and of all routers mounted on it, with their full paths. */
export class RouteTable {
  /** In order of registration. */
  readonly routes: Route[] = [];
  readonly #tree: Tree;
  /** By method, then by pattern of the tree. */
  readonly #routesOf = new Map<string, (Route | undefined)[]>();
  /** By pattern of the tree: its methods in order of registration. */
  readonly #methodsOf: string[][] = [];
  /** Lists of parameter names. Routes share equal lists, so that these stay in the processor's cache. */
  readonly #nameLists = new Map<string, readonly string[]>();

  constructor(options: TreeOptions) {
    this.#tree = new Tree(options);
  }

  /** @throws {Error} if the method and path are already registered */
  add(registration: Registration): Route {
    const { method, path } = registration;
    const pattern = this.#tree.add(path);
    const present = this.#routesOf.get(method)?.[pattern];
    if (present?.method === method) {
      throw new Error(`Route conflict: ${method} ${present.path} is already registered`);
    }
    const route = { ...registration, names: this.#namesIn(path), chain: undefined };
    this.routes.push(route);
    this.#set(method, pattern, route);
    if (method === 'GET' && !this.#routesOf.get('HEAD')?.[pattern]) {
      this.#set('HEAD', pattern, route);
    }
    this.#methodsOf[pattern] = [...(this.#methodsOf[pattern] ?? []), method];
    return route;
  }

  /** Whether any route has this method; every GET route also has HEAD. */
  hasMethod(method: string): boolean {
    return this.#routesOf.has(method);
  }

  /** Finds the route for a method and a path in normal form. */
  find(method: string, path: string): TableMatch | undefined {
    const routes = this.#routesOf.get(method);
    const match = routes && this.#tree.find(path, routes);
    if (!match) return undefined;
    const route = match.value;
    return { route, params: toParams(route.names, match.captured) };
  }

  /**
   * The methods of the most specific pattern for a path in normal form, HEAD after GET. Those of other
   * patterns are omitted, although `find` may return their routes: in OpenAPI, `/users/me` and
   * `/users/{id}` are different paths.
   */
  methodsOf(path: string): readonly string[] {
    const methods = this.#tree.find(path, this.#methodsOf)?.value ?? [];
    if (!methods.includes('GET')) return methods;
    return methods
      .filter((method) => method !== 'HEAD')
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  }

  #set(method: string, pattern: number, route: Route): void {
    const routes = this.#routesOf.get(method) ?? [];
    while (routes.length < pattern) routes.push(undefined); // an array with holes would be slow
    routes[pattern] = route;
    this.#routesOf.set(method, routes);
  }

  #namesIn(path: string): readonly string[] {
    const names = namesIn(path);
    const key = names.join('/');
    const shared = this.#nameLists.get(key) ?? names;
    this.#nameLists.set(key, shared);
    return shared;
  }
}

/** An object without inherited properties which, unlike `Object.create(null)`, V8 does not make a dictionary. */
class Params {
  [name: string]: string;
}
Object.setPrototypeOf(Params.prototype, null);
Reflect.deleteProperty(Params.prototype, 'constructor');

function toParams(names: readonly string[], captured: readonly string[]): Record<string, string> {
  const params = new Params();
  for (let index = 0; index < names.length; index++) {
    params[names[index] as string] = captured[index] as string;
  }
  return params;
}

interface TreeOptions {
  readonly caseSensitive: boolean;
  readonly strict: boolean;
}

/** The value of the pattern that a path matches, and the decoded values of its parameters in order. */
interface TreeMatch<Value> {
  readonly value: Value;
  /** May be longer than the pattern has parameters. */
  readonly captured: readonly string[];
}

/** `text` leads to the node, in folded case; the nodes of parameters and wildcards have none. */
interface Node {
  text: string;
  readonly children: Map<string, Node>;
  param: Node | undefined;
  wildcard: Node | undefined;
  /** The number of the pattern that ends here, -1 for none. */
  pattern: number;
}

/**
 * A radix tree of path patterns. Static text is more specific than a parameter, a parameter more
 * specific than a wildcard, in any order of registration.
 */
export class Tree {
  readonly #root = createNode('');
  readonly #options: TreeOptions;
  #patterns = 0;
  /** Built by the first lookup after a registration. */
  #flat: FlatTree | undefined;

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  /**
   * Adds a pattern in normal form and returns its number, counted from 0. Patterns that match the
   * same paths, such as `/:a` and `/:b`, have the same number.
   */
  add(pattern: string): number {
    const isTrimmed = !this.#options.strict && pattern.length > 1 && pattern.endsWith('/');
    const node = this.#insert(isTrimmed ? pattern.slice(0, -1) : pattern);
    if (node.pattern < 0) node.pattern = this.#patterns++;
    this.#flat = undefined;
    return node.pattern;
  }

  /** Finds the most specific pattern for a path in normal form among those with an entry in `values`. */
  find<Value>(path: string, values: readonly (Value | undefined)[]): TreeMatch<Value> | undefined {
    this.#flat ??= new FlatTree(this.#root, this.#options);
    return this.#flat.find(path, values);
  }

  #insert(pattern: string): Node {
    let node = this.#root;
    let text = '';
    for (const segment of pattern.slice(1).split('/')) {
      text += '/';
      if (segment === '*' || segment.startsWith(':')) {
        const kind = segment === '*' ? 'wildcard' : 'param';
        const parent = insertText(node, text);
        parent[kind] ??= createNode('');
        node = parent[kind];
        text = '';
      } else {
        text += this.#options.caseSensitive ? segment : foldCase(segment);
      }
    }
    return insertText(node, text);
  }
}

function createNode(text: string): Node {
  return { text, children: new Map(), param: undefined, wildcard: undefined, pattern: -1 };
}

/** The node that `text` leads to from `from`; splits a node that shares only the start of its text. */
function insertText(from: Node, text: string): Node {
  let node = from;
  let rest = text;
  while (rest !== '') {
    const child = node.children.get(rest.charAt(0)) ?? createNode(rest);
    const shared = sharedLength(child.text, rest);
    const next = shared < child.text.length ? createNode(rest.slice(0, shared)) : child;
    if (next !== child) {
      child.text = child.text.slice(shared);
      next.children.set(child.text.charAt(0), child);
    }
    node.children.set(rest.charAt(0), next);
    node = next;
    rest = rest.slice(shared);
  }
  return node;
}

function sharedLength(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at;
}

const SLASH = 0x2f;
const PERCENT = 0x25;
const NONE = -1;

/** Where the fields of a node are in `#nodes`, counted from its first one. */
const TEXT = 0;
const TEXT_END = 1;
const FIRST = 2; // the character code of the first child
const SPAN = 3; // how many character codes there are from the first child to the last
const CHILDREN = 4; // where they begin in `#children`
const PARAM = 5;
const WILDCARD = 6;
const PATTERN = 7;

/** One lookup: its input, and what parameters have captured so far. */
interface Lookup {
  readonly path: string;
  /** The length of the path without an ignored trailing slash. */
  readonly end: number;
  readonly values: readonly unknown[];
  readonly captured: string[];
}

/**
 * A tree in typed arrays: with ten thousand routes, objects would cost a cache miss at each step.
 * The steps of a lookup depend on the path, never on the number of routes: a child is found by its
 * character code, without a search.
 */
class FlatTree {
  readonly #strict: boolean;
  /** By character code: the code that the tree has for it. */
  readonly #folded: Uint8Array;
  readonly #nodes: Int32Array;
  readonly #text: Uint8Array;
  readonly #children: Int32Array;

  constructor(root: Node, { caseSensitive, strict }: TreeOptions) {
    const { nodes, text, children } = flatten(root);
    this.#strict = strict;
    this.#folded = Uint8Array.from({ length: 128 }, (_, code) => {
      const character = String.fromCharCode(code);
      return (caseSensitive ? character : foldCase(character)).charCodeAt(0);
    });
    this.#nodes = Int32Array.from(nodes);
    this.#text = Uint8Array.from(text);
    this.#children = Int32Array.from(children);
  }

  /** See `Tree.find`. */
  find<Value>(path: string, values: readonly (Value | undefined)[]): TreeMatch<Value> | undefined {
    const last = path.length - 1;
    const end = !this.#strict && last > 1 && path.charCodeAt(last) === SLASH ? last : last + 1;
    const captured: string[] = [];
    const pattern = this.#walk({ path, end, values, captured }, 0, 0, 0);
    return pattern === NONE ? undefined : { value: values[pattern] as Value, captured };
  }

  /** The pattern for the rest of the path from `start`, in the subtree of `from`. */
  #walk(lookup: Lookup, from: number, start: number, captured: number): number {
    const { path, end } = lookup;
    const nodes = this.#nodes;
    const folded = this.#folded;
    let node = from;
    let at = start;
    let count = captured;
    for (;;) {
      // 1. The text of the node.
      const textEnd = nodes[node + TEXT_END] as number;
      for (let index = nodes[node + TEXT] as number; index < textEnd; index++, at++) {
        const code = path.charCodeAt(at);
        const expected = this.#text[index];
        if (code !== expected && folded[code] !== expected) return NONE;
      }
      // 2. The end of the path.
      if (at >= end) return withValue(lookup, nodes[node + PATTERN] as number);
      // 3. The child for the next character.
      const offset = (folded[path.charCodeAt(at)] as number) - (nodes[node + FIRST] as number);
      const child =
        offset >= 0 && offset < (nodes[node + SPAN] as number)
          ? (this.#children[(nodes[node + CHILDREN] as number) + offset] as number)
          : NONE;
      const param = nodes[node + PARAM] as number;
      const wildcard = nodes[node + WILDCARD] as number;
      if (child !== NONE) {
        if ((param & wildcard) === NONE) {
          node = child;
          at++;
          continue;
        }
        const pattern = this.#walk(lookup, child, at + 1, count);
        if (pattern !== NONE) return pattern;
      }
      // 4. A parameter, which is more specific than a wildcard.
      if (param !== NONE) {
        const segmentEnd = captureSegment(lookup, at, count);
        if (segmentEnd === at) return NONE;
        if (wildcard === NONE) {
          node = param;
          at = segmentEnd;
          count++;
          continue;
        }
        const pattern = this.#walk(lookup, param, segmentEnd, count + 1);
        if (pattern !== NONE) return pattern;
      }
      return wildcard === NONE
        ? NONE
        : this.#captureRest(lookup, nodes[wildcard + PATTERN] as number, at, count);
    }
  }

  /** Captures the rest of the path, which must have no empty segment. */
  #captureRest(lookup: Lookup, pattern: number, start: number, count: number): number {
    if (withValue(lookup, pattern) === NONE) return NONE;
    const rest = lookup.path.slice(start, lookup.end);
    if (rest.startsWith('/') || rest.includes('//')) return NONE;
    if (!this.#strict && rest.endsWith('/')) return NONE;
    lookup.captured[count] = rest.includes('%') ? decodeURIComponent(rest) : rest;
    return pattern;
  }
}

/** Captures up to the next slash and returns its index. */
function captureSegment({ path, end, captured }: Lookup, start: number, count: number): number {
  let isEscaped = false;
  let at = start;
  for (; at < end; at++) {
    const code = path.charCodeAt(at);
    if (code === SLASH) break;
    if (code === PERCENT) isEscaped = true;
  }
  const segment = path.slice(start, at);
  captured[count] = isEscaped ? decodeURIComponent(segment) : segment;
  return at;
}

/** `pattern` if it has a value in this lookup. */
function withValue({ values }: Lookup, pattern: number): number {
  return pattern !== NONE && values[pattern] !== undefined ? pattern : NONE;
}

function flatten(root: Node) {
  const nodes: number[] = [];
  const text: number[] = [];
  const children: number[] = [];
  const add = (node: Node | undefined): number => {
    if (!node) return NONE;
    const codes = [...node.children.keys()].map((character) => character.charCodeAt(0));
    const first = Math.min(...codes);
    const span = codes.length > 0 ? Math.max(...codes) - first + 1 : 0;
    const place = nodes.length;
    const start = text.length;
    const childrenStart = children.length;
    // The first character of the text is the one that selects the child.
    for (const character of node.text.slice(1)) text.push(character.charCodeAt(0));
    for (let offset = 0; offset < span; offset++) children.push(NONE);
    nodes.push(start, text.length, first, span, childrenStart, NONE, NONE, node.pattern);
    for (const [character, child] of node.children) {
      children[childrenStart + character.charCodeAt(0) - first] = add(child);
    }
    nodes[place + PARAM] = add(node.param);
    nodes[place + WILDCARD] = add(node.wildcard);
    return place;
  };
  add(root);
  return { nodes, text, children };
}
