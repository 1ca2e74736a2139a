import { foldCase } from '../../request/path.ts';
import { FlatTree, type TreeMatch } from './flat-tree.ts';
import type { Node } from './node.ts';

export interface TreeOptions {
  readonly caseSensitive: boolean;
  readonly strict: boolean;
}

/**
 * A radix tree of path patterns. Static text is more specific than a parameter, a parameter more
 * specific than a wildcard, in any order of registration.
 */
export class Tree {
  readonly #root = createNode('');
  readonly #fold: (text: string) => string;
  readonly #strict: boolean;
  #patterns = 0;
  /** Built by the first lookup after a registration. */
  #flat: FlatTree | undefined;

  constructor({ caseSensitive, strict }: TreeOptions) {
    this.#fold = caseSensitive ? (text) => text : foldCase;
    this.#strict = strict;
  }

  /**
   * Adds a pattern in normal form and returns its number, counted from 0. Patterns that match the
   * same paths, such as `/:a` and `/:b`, have the same number.
   */
  add(pattern: string): number {
    const isTrimmed = !this.#strict && pattern.length > 1 && pattern.endsWith('/');
    const node = this.#insert(isTrimmed ? pattern.slice(0, -1) : pattern);
    if (node.pattern < 0) node.pattern = this.#patterns++;
    this.#flat = undefined;
    return node.pattern;
  }

  /** Finds the most specific pattern for a path in normal form among those with an entry in `values`. */
  find<Value>(path: string, values: readonly (Value | undefined)[]): TreeMatch<Value> | undefined {
    this.#flat ??= new FlatTree(this.#root, { fold: this.#fold, strict: this.#strict });
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
        text += this.#fold(segment);
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
