import type { JsonSchema } from '@fw/core/schema';
import { isRecord, keysOf, lookUp, mapSubschemas } from '@fw/core/schema';

export interface Reference {
  readonly $ref: string;
}

export type ComponentKind = 'schemas' | 'responses' | 'headers';

/** The shared parts of a document: equal parts exist once, under unique names. */
export class Components {
  readonly #parts: Record<ComponentKind, Map<string, unknown>> = {
    schemas: new Map(),
    responses: new Map(),
    headers: new Map(),
  };

  /** Adds `part` as `name`, or with a number if the name has another meaning. */
  add(kind: ComponentKind, name: string, part: unknown): Reference {
    const parts = this.#parts[kind];
    const base = safeName(name);
    let attempt = 0;
    while (!fits(parts, candidate(base, [], attempt), part)) attempt++;
    const free = candidate(base, [], attempt);
    parts.set(free, part);
    return refTo(kind, free);
  }

  /**
   * Adds a converted schema. Its definitions become shared schemas, as does a schema that refers to itself
   * as `#`, because these references would be invalid in a document. `suffix` distinguishes input and
   * output schemas with one name.
   */
  addSchema(schema: JsonSchema, { name, suffix }: { name: string; suffix: string }): JsonSchema {
    const { $schema: _dialect, $id: _id, $defs = {}, definitions = {}, ...root } = schema;
    const shared = new Map([$defs, definitions].filter(isRecord).flatMap(Object.entries));
    if (refsIn([root, ...shared.values()]).some((ref) => targetOf(ref).key === ROOT)) {
      shared.set(ROOT, root);
    }
    const ownName = typeof root.title === 'string' ? root.title : name;
    const bases = distinctNames([...shared.keys()], ownName);
    for (let attempt = 0; ; attempt++) {
      const names = new Map(
        [...bases].map(([key, base]) => [key, candidate(base, [suffix], attempt)]),
      );
      const renamed = new Map(
        [...shared].map(([key, part]) => [names.get(key) as string, renameRefs(part, names)]),
      );
      if (![...renamed].every(([key, part]) => fits(this.#parts.schemas, key, part))) continue;
      for (const [key, part] of renamed) this.#parts.schemas.set(key, part);
      const own = names.get(ROOT);
      return own === undefined
        ? (renameRefs(root, names) as JsonSchema)
        : { ...refTo('schemas', own) };
    }
  }

  /** The schema that `schema` refers to, or `schema` itself. */
  resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const found = lookUp({ components: this.toJSON() }, $ref);
    return isRecord(found) ? found : schema;
  }

  toJSON(): Record<string, Record<string, unknown>> {
    const filled = Object.entries(this.#parts).filter(([, parts]) => parts.size > 0);
    return Object.fromEntries(filled.map(([kind, parts]) => [kind, Object.fromEntries(parts)]));
  }
}

/** The key of the complete schema among its definitions. */
const ROOT = '#';

function refTo(kind: ComponentKind, name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A valid component name (OpenAPI 3.1.1 §4.8.7). */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '_') || '_';
}

/** A name for each definition of one schema, by its key. */
function distinctNames(keys: readonly string[], ownName: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const key of keys) {
    let name = safeName(key === ROOT ? ownName : key);
    while ([...names.values()].includes(name)) name += '_';
    names.set(key, name);
  }
  return names;
}

/** The name of the given attempt: `base`, with each suffix, then numbered from 2. */
function candidate(base: string, suffixes: readonly string[], attempt: number): string {
  if (attempt === 0) return base;
  return base + (suffixes[attempt - 1] ?? String(attempt - suffixes.length + 1));
}

function fits(parts: ReadonlyMap<string, unknown>, name: string, part: unknown): boolean {
  return !parts.has(name) || JSON.stringify(parts.get(name)) === JSON.stringify(part);
}

/** `schema` with every local reference renamed. */
export function mapRefs(schema: unknown, rename: (ref: string) => string): unknown {
  if (!isRecord(schema)) return schema;
  const { $ref } = schema;
  return {
    ...mapSubschemas(schema, (part) => mapRefs(part, rename)),
    ...(typeof $ref === 'string' && $ref.startsWith('#') && { $ref: rename($ref) }),
  };
}

function refsIn(schemas: readonly unknown[]): string[] {
  const refs: string[] = [];
  for (const schema of schemas) {
    mapRefs(schema, (ref) => {
      refs.push(ref);
      return ref;
    });
  }
  return refs;
}

function renameRefs(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  return mapRefs(schema, (ref) => {
    const { key, rest } = targetOf(ref);
    const name = names.get(key);
    return name === undefined ? ref : `#/components/schemas/${name}${rest}`;
  });
}

/** The definition to which `ref` leads and the pointer within it; the key of other components is empty. */
function targetOf(ref: string): { readonly key: string; readonly rest: string } {
  if (ref.startsWith('#/components/')) return { key: '', rest: '' };
  const [definition] = /^#\/(?:\$defs|definitions)\/[^/]+/.exec(ref) ?? [];
  if (definition === undefined) return { key: ROOT, rest: ref.slice(1) };
  return { key: keysOf(definition)[1] ?? '', rest: ref.slice(definition.length) };
}
