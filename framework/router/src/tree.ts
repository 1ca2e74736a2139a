import { foldCase, normalizePath } from '@fw/core/extension';

import { ExactPaths } from './exact.ts';

/*
 * A radix tree over the characters of normal paths, built of objects and searched in flat arrays.
 *
 * A lookup walks characters, so its steps depend on the path alone. The arrays keep ten thousand
 * routes in the processor's cache, where objects would cost a miss a step. A branch is found by
 * index, not by search: every node has a window of the alphabet, from its first child to its last.
 */

const SLASH = 0x2f;
const PERCENT = 0x25;
const DOT = 0x2e;

/** A node as the builder sees it. `text` leads to it; a parameter or wildcard has none. */
export interface Node {
  text: string;
  children: Node[];
  param: Node | undefined;
  wildcard: Node | undefined;
  /** Its place among the nodes that routes end in; -1 for none. */
  leaf: number;
}

function createNode(text: string): Node {
  return { text, children: [], param: undefined, wildcard: undefined, leaf: -1 };
}

function wildcardOf(node: Node): Node {
  node.wildcard ??= createNode('');
  return node.wildcard;
}

function paramOf(node: Node): Node {
  node.param ??= createNode('');
  return node.param;
}

/** Fields of a node in the flat form. */
const TEXT = 0;
const TEXT_END = 1;
const FIRST = 2; // the first character of the window
const SPAN = 3; // how many characters it has
const WINDOW = 4; // where it begins in `windows`
const PARAM = 5;
const WILDCARD = 6;
const LEAF = 7;
const NONE = -1;

/** What a character is to a segment that is captured: part of it, its end, or reason to look closer. */
const CAPTURED = 0;
const END_OF_SEGMENT = 1;
const SUSPECT = 2;
const KIND = new Uint8Array(128).fill(SUSPECT);
for (let code = 0x21; code < 0x7f; code++) KIND[code] = CAPTURED;
for (const character of '%?#\\') KIND[character.charCodeAt(0)] = SUSPECT;
KIND[SLASH] = END_OF_SEGMENT;

/** A map that inherits nothing and that, unlike `Object.create(null)`, the engine keeps in its fast form. */
class Params {
  [name: string]: string;
}
Object.setPrototypeOf(Params.prototype, null);
Reflect.deleteProperty(Params.prototype, 'constructor');

export interface TreeOptions {
  readonly caseSensitive: boolean;
  readonly strict: boolean;
}

/** Finds the most specific of the registered patterns: static beats parameter beats wildcard, and a dead end backs out. */
export class Tree {
  readonly root: Node = createNode('');
  readonly #fold: (text: string) => string;
  readonly #strict: boolean;
  readonly #folded = new Uint8Array(128);
  readonly #exact = new ExactPaths();
  #leaves = 0;
  #depth = 0;

  #nodes: Int32Array | undefined;
  #text: Uint8Array = new Uint8Array(0);
  #windows: Int32Array = new Int32Array(0);
  /** Start and end of what each parameter captured in the latest lookup. */
  #captures: Int32Array = new Int32Array(0);
  /** The latest path that was not in normal form, in it. */
  #normal = '';
  #isSuspect = false;
  /** By leaf: a number that is not negative where the lookup may end. */
  #open: Int32Array = new Int32Array(0);

  constructor({ caseSensitive, strict }: TreeOptions) {
    this.#fold = caseSensitive ? (text) => text : foldCase;
    this.#strict = strict;
    for (let code = 0; code < 128; code++) {
      this.#folded[code] = this.#fold(String.fromCharCode(code)).charCodeAt(0);
    }
  }

  /** How many leaves there are. */
  get size(): number {
    return this.#leaves;
  }

  /**
   * Adds `pattern`, in normal form, and returns its leaf. Patterns that differ only in the names of
   * their parameters have one leaf: the names belong to the routes.
   */
  add(pattern: string): number {
    let captures = 0;
    let node = this.root;
    let text = '';
    for (const segment of this.#trim(pattern).slice(1).split('/')) {
      text += '/';
      if (segment === '*' || segment.startsWith(':')) {
        node = insertText(node, text);
        text = '';
        node = segment === '*' ? wildcardOf(node) : paramOf(node);
        captures++;
      } else {
        text += this.#fold(segment);
      }
    }
    node = insertText(node, text);
    if (node.leaf < 0) node.leaf = this.#leaves++;
    if (captures === 0) this.#exact.add(pattern, node.leaf);
    this.#depth = Math.max(this.#depth, captures);
    this.#nodes = undefined;
    return node.leaf;
  }

  /**
   * The leaf for `path` among those that are not negative in `open`, or -1; what its parameters
   * captured is then read by `capture`. A path that is not in normal form is first brought into it.
   */
  find(path: string, open: Int32Array): number {
    const exact = this.#exact.find(path);
    if (exact >= 0 && (open[exact] as number) >= 0) return exact;
    if (this.#nodes === undefined) this.#flatten();
    this.#open = open;
    this.#isSuspect = false;
    const leaf = this.#walkPath(path);
    if (!this.#isSuspect) return leaf;
    const normal = normalizePath(path);
    if (normal === undefined) return NONE;
    this.#normal = normal;
    return this.#walkPath(normal);
  }

  /** What the latest lookup, which was of `found`, captured by the names of its leaf; decoded. */
  capture(found: string, names: readonly string[]): Record<string, string> {
    const params = new Params();
    const path = this.#isSuspect ? this.#normal : found;
    const captures = this.#captures;
    const isEscaped = this.#isSuspect && path.includes('%');
    for (let index = 0; index < names.length; index++) {
      const text = path.slice(captures[index * 2], captures[index * 2 + 1]);
      params[names[index] as string] = isEscaped ? decodeURIComponent(text) : text;
    }
    return params;
  }

  #trim(pattern: string): string {
    return !this.#strict && pattern.length > 1 && pattern.endsWith('/')
      ? pattern.slice(0, -1)
      : pattern;
  }

  #walkPath(path: string): number {
    const last = path.length - 1;
    if (path.charCodeAt(0) !== SLASH) return NONE;
    const end = !this.#strict && last > 1 && path.charCodeAt(last) === SLASH ? last : last + 1;
    return this.#walk(path, end, 0, 1, 0);
  }

  /** Goes on from `node`, whose first character is the one before `at`, with `captured` parameters behind it. */
  #walk(path: string, end: number, from: number, start: number, captured: number): number {
    const nodes = this.#nodes as Int32Array;
    const text = this.#text;
    const folded = this.#folded;
    let node = from;
    let at = start;
    for (;;) {
      // 1. The text of the node, folded only where it differs.
      let index = nodes[node + TEXT] as number;
      const textEnd = nodes[node + TEXT_END] as number;
      while (index < textEnd) {
        const code = path.charCodeAt(at);
        if (code !== text[index] && folded[code] !== text[index]) return this.#miss(path, at);
        index++;
        at++;
      }
      // 2. The end of the path.
      if (at >= end) {
        return this.#openLeaf(nodes[node + LEAF] as number);
      }
      // 3. The branch that the next character leads to.
      const place = (folded[path.charCodeAt(at)] as number) - (nodes[node + FIRST] as number);
      const child =
        place >= 0 && place < (nodes[node + SPAN] as number)
          ? (this.#windows[(nodes[node + WINDOW] as number) + place] as number)
          : NONE;
      const param = nodes[node + PARAM] as number;
      const wildcard = nodes[node + WILDCARD] as number;
      if ((param & wildcard) === NONE) {
        if (child < 0) return this.#miss(path, at);
        node = child;
        at++;
        continue;
      }
      // 4. A segment begins that may be captured; what is more specific comes first.
      if (child >= 0) {
        const leaf = this.#walk(path, end, child, at + 1, captured);
        if (leaf >= 0) return leaf;
      }
      if (param >= 0) {
        const segmentEnd = this.#captureSegment(path, end, at, captured);
        if (segmentEnd === at) return NONE;
        if (wildcard < 0) {
          if (segmentEnd === end) return this.#openLeaf(nodes[param + LEAF] as number);
          if (nodes[param + SPAN] === 0) return NONE;
          node = this.#windows[nodes[param + WINDOW] as number] as number; // only a slash can follow
          at = segmentEnd + 1;
          captured++;
          continue;
        }
        const leaf = this.#walk(path, end, param, segmentEnd, captured + 1);
        if (leaf >= 0) return leaf;
      }
      return this.#captureRest(path, end, at, captured, nodes[wildcard + LEAF] as number);
    }
  }

  /** `leaf` if the lookup may end there; `open` may be shorter than the tree has leaves. */
  #openLeaf(leaf: number): number {
    return leaf >= 0 && (this.#open[leaf] as number) >= 0 ? leaf : NONE;
  }

  /** The path left the tree at `at`; if that is within an escape, its normal form may go on. */
  #miss(path: string, at: number): number {
    for (let back = at; back >= 0 && back > at - 3; back--) {
      if (path.charCodeAt(back) === PERCENT) this.#isSuspect = true;
    }
    return NONE;
  }

  /** Captures up to the next slash; returns where that is. */
  #captureSegment(path: string, end: number, start: number, index: number): number {
    const segmentEnd = this.#scanSegment(path, end, start);
    this.#captures[index * 2] = start;
    this.#captures[index * 2 + 1] = segmentEnd;
    return segmentEnd;
  }

  /** Captures all that is left, which must have no empty segment. */
  #captureRest(path: string, end: number, start: number, index: number, leaf: number): number {
    if (this.#openLeaf(leaf) < 0) return this.#miss(path, start);
    for (let at = start; at < end; at++) {
      const segmentEnd = this.#scanSegment(path, end, at);
      if (segmentEnd === at || (segmentEnd === end - 1 && !this.#strict)) return NONE;
      at = segmentEnd;
    }
    this.#captures[index * 2] = start;
    this.#captures[index * 2 + 1] = end;
    return leaf;
  }

  /** Where the segment that begins at `start` ends; one that has to be looked at closer is noted. */
  #scanSegment(path: string, end: number, start: number): number {
    if (path.charCodeAt(start) === DOT) this.#isSuspect = true;
    let at = start;
    for (; at < end; at++) {
      const kind = KIND[path.charCodeAt(at)];
      if (kind === CAPTURED) continue;
      if (kind === END_OF_SEGMENT) break;
      this.#isSuspect = true;
    }
    return at;
  }

  #flatten(): void {
    const nodes: number[] = [];
    const text: number[] = [];
    const windows: number[] = [];
    const place = (node: Node | undefined): number => {
      if (!node) return NONE;
      const at = nodes.length;
      const starts = node.children.map((child) => child.text.charCodeAt(0));
      const first = Math.min(...starts);
      const span = starts.length > 0 ? Math.max(...starts) - first + 1 : 0;
      const window = windows.length;
      nodes.push(
        text.length,
        text.length + Math.max(0, node.text.length - 1),
        first,
        span,
        window,
        NONE,
        NONE,
        node.leaf,
      );
      for (const character of node.text.slice(1)) text.push(character.charCodeAt(0));
      for (let code = 0; code < span; code++) windows.push(NONE);
      for (const child of node.children)
        windows[window + child.text.charCodeAt(0) - first] = place(child);
      nodes[at + PARAM] = place(node.param);
      nodes[at + WILDCARD] = place(node.wildcard);
      return at;
    };
    place(this.root.children[0]);
    this.#nodes = Int32Array.from(nodes);
    this.#text = Uint8Array.from(text);
    this.#windows = Int32Array.from(windows);
    this.#captures = new Int32Array(2 * this.#depth);
  }
}

/** The node that `text` leads to from `node`; splits those that share only a beginning with it. */
function insertText(from: Node, text: string): Node {
  let node = from;
  let rest = text;
  while (rest !== '') {
    const at = node.children.findIndex((child) => child.text[0] === rest[0]);
    const child = node.children[at];
    if (!child) {
      const added = createNode(rest);
      node.children.push(added);
      return added;
    }
    const shared = sharedLength(child.text, rest);
    if (shared < child.text.length) {
      const upper = createNode(child.text.slice(0, shared));
      child.text = child.text.slice(shared);
      upper.children.push(child);
      node.children[at] = upper;
      node = upper;
    } else {
      node = child;
    }
    rest = rest.slice(shared);
  }
  return node;
}

function sharedLength(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at;
}
