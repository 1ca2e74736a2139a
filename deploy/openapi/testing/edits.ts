/** A document, or a part of one. */
type Part = Record<string, unknown>;

/** Changes a document in place. */
export type Edit = (document: Part) => void;

/**
 * An edit of a document such as `users/v2` that breaks a client, and the line that reports it. `before`
 * changes both documents first.
 */
export type BreakingEdit = readonly [
  title: string,
  document: string,
  edit: Edit,
  line: string,
  before?: Edit,
];

/** An edit that breaks no client. */
export type HarmlessEdit = readonly [title: string, document: string, edit: Edit, before?: Edit];

/** Sets the value at `path`: keys separated by spaces; an element of a list by its `name` or index. */
export function set(path: string, value: unknown): Edit {
  return (document) => {
    const [parent, key] = locate(document, path);
    parent[key] = value;
  };
}

/** Removes the value at `path`. */
export function remove(path: string): Edit {
  return (document) => {
    const [parent, key] = locate(document, path);
    if (!(key in parent)) throw new RangeError(`Cannot remove "${path}": it does not exist`);
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  };
}

/** Replaces the value at `path` by the result of `change`. */
export function change(path: string, change: (value: never) => unknown): Edit {
  return (document) => {
    const [parent, key] = locate(document, path);
    if (!(key in parent)) throw new RangeError(`Cannot change "${path}": it does not exist`);
    parent[key] = change(resolve(document, parent[key]) as never);
  };
}

/** Renames the last key of `path` to `name`. */
export function rename(path: string, name: string): Edit {
  return (document) => {
    const [parent, key] = locate(document, path);
    if (!(key in parent)) throw new RangeError(`Cannot rename "${path}": it does not exist`);
    parent[name] = parent[key];
    delete parent[key];
  };
}

/** Applies several edits in order. */
export function all(...edits: readonly Edit[]): Edit {
  return (document) => {
    for (const edit of edits) edit(document);
  };
}

/** The parent of the value at `path`, and its key there; references are followed. */
function locate(document: Part, path: string): [Part, string] {
  const keys = path.split(' ');
  let parent: Part = document;
  for (const [depth, key] of keys.entries()) {
    const found = keyIn(parent, key);
    if (depth === keys.length - 1) return [parent, found];
    const next = resolve(document, parent[found]);
    if (typeof next !== 'object' || next === null) {
      throw new RangeError(`Cannot follow "${path}": "${key}" does not exist`);
    }
    parent = next as Part;
  }
  return [parent, ''];
}

function keyIn(parent: Part, key: string): string {
  if (!Array.isArray(parent)) return key;
  const index = parent.findIndex((item) => item?.name === key);
  return index === -1 ? key : String(index);
}

function resolve(document: Part, value: unknown): unknown {
  const ref = (value as Part | undefined)?.$ref;
  if (typeof ref !== 'string') return value;
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((part, key) => (part as Part)[key], document);
}

/** Removes a value from a list. */
export function without(value: string) {
  return (list: readonly string[]) => list.filter((each) => each !== value);
}

/** Adds a value to a list, which may be missing. */
export function adding(value: unknown) {
  return (list: readonly unknown[] = []) => [...list, value];
}

/** Adds an alternative to a schema. */
export function or(schema: object) {
  return (value: object) => ({ anyOf: [value, schema] });
}
