import {
  type ArrayShape,
  join,
  type LeafType,
  type ObjectShape,
  type Schema,
  type Shape,
  shapesOf,
  unionOf,
} from './shapes.ts';
import type { JsonSchema } from './subschemas.ts';
import { MAX_DEPTH, withArticle } from './trace.ts';

const CHECKS: Readonly<Record<LeafType, string>> = {
  string: "typeof v === 'string'",
  number: "typeof v === 'number' && v - v === 0", // finite
  integer: 'Number.isInteger(v)',
  boolean: "typeof v === 'boolean'",
  null: 'v === null',
};

/**
 * Generates the body of a function that returns the function `(value, trace, depth) => copy`. The copy
 * has exactly the declared fields, as object literals: their shapes are constant, so that V8 allocates
 * and stringifies them fast. Names and values of the schema occur only as JSON.
 */
export function serializerSource(root: JsonSchema): string {
  return new Generator(root).generate();
}

class Generator {
  readonly #root: JsonSchema;
  readonly #functions: string[] = [];
  /** The functions by the JSON of their schema: the function of a recursive schema calls itself. */
  readonly #names = new Map<string, string>();

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  generate(): string {
    const entry = this.#copyOf(this.#root);
    return `'use strict';\n${this.#functions.join('\n')}\nreturn ${entry};`;
  }

  /** The name of the function that copies a value of `schema`. */
  #copyOf(schema: Schema): string {
    const key = JSON.stringify(schema);
    const present = this.#names.get(key);
    if (present !== undefined) return present;
    const name = this.#reserve();
    this.#names.set(key, name);
    this.#define(name, this.#bodyOf(shapesOf(schema, this.#root)));
    return name;
  }

  #reserve(): string {
    return `f${this.#functions.push('') - 1}`;
  }

  #define(name: string, body: string): void {
    this.#functions[Number(name.slice(1))] = `function ${name}(v, t, d) {\n${body}\n}`;
  }

  #bodyOf(shapes: readonly Shape[]): string {
    if (shapes.some(({ kind }) => kind === 'any')) return 'return v;';
    const leaves = shapes.flatMap((shape) => (shape.kind === 'leaf' ? [shape.type] : []));
    const objects = shapes.filter((shape) => shape.kind === 'object');
    const arrays = shapes.filter((shape) => shape.kind === 'array');
    const expected = JSON.stringify(describe(shapes));
    return [
      "if (typeof v === 'object' && v !== null && typeof v.toJSON === 'function') v = t.jsonOf(v, d);",
      ...(leaves.length > 0 ? [`if (${checkOf(leaves)}) return v;`] : []),
      `if (typeof v !== 'object' || v === null) return t.mismatch(v, ${expected}, d);`,
      `if (d > ${MAX_DEPTH}) t.rejectDepth();`,
      `if (Array.isArray(v)) ${arrays.length > 0 ? this.#callArray(arrays) : `return t.mismatch(v, ${expected}, d);`}`,
      objects.length > 0 ? this.#callObject(objects) : `return t.mismatch(v, ${expected}, d);`,
    ].join('\n');
  }

  #callArray(shapes: readonly ArrayShape[]): string {
    const [only] = shapes;
    const items = shapes.flatMap(({ first, rest = [] }) => [...first, rest].flat());
    const union: ArrayShape = { kind: 'array', first: [], rest: join('anyOf', items) };
    return `return ${this.#arrayCopy(only && shapes.length === 1 ? only : union)}(v, t, d);`;
  }

  #callObject(shapes: readonly ObjectShape[]): string {
    const [only] = shapes;
    if (only && shapes.length === 1) return `return ${this.#objectCopy(only)}(v, t, d);`;
    const choices = shapes.map(
      (shape) => `if (${this.#fits(shape)}) return ${this.#objectCopy(shape)}(v, t, d);`,
    );
    return [
      ...choices,
      "t.fail('fits none of the alternatives', d);",
      `return ${this.#objectCopy(unionOf(shapes))}(v, t, d);`,
    ].join('\n');
  }

  /** A test whether the object `v` has the required fields and no leaf with another type or value. */
  #fits({ properties, required }: ObjectShape): string {
    const tests = [...new Set([...properties.keys(), ...required])].flatMap((name) => {
      const value = read(name);
      const isRequired = required.has(name);
      const accepted = this.#accepted(properties.get(name) ?? true, value);
      if (accepted === undefined) return isRequired ? [`${value} !== undefined`] : [];
      return isRequired ? [`(${accepted})`] : [`(${value} === undefined || ${accepted})`];
    });
    return tests.length > 0 ? tests.join(' && ') : 'true';
  }

  /** A shallow test whether `schema` accepts the value of an expression; `undefined` if it always does. */
  #accepted(schema: Schema, expression: string): string | undefined {
    const shapes = shapesOf(schema, this.#root);
    if (shapes.some(({ kind }) => kind === 'any')) return undefined;
    const tests = shapes.map((shape) => {
      if (shape.kind === 'array') return 'Array.isArray(v)';
      if (shape.kind !== 'leaf') return "typeof v === 'object' && v !== null && !Array.isArray(v)";
      if (shape.values) return shape.values.map((one) => `v === ${literal(one)}`).join(' || ');
      return shape.type === 'string' ? `${CHECKS.string} || v instanceof Date` : CHECKS[shape.type];
    });
    const name = this.#reserve();
    this.#define(name, `return ${tests.join(' || ') || 'false'};`);
    return `${name}(${expression})`;
  }

  #objectCopy({ properties, required, others, patterns }: ObjectShape): string {
    const name = this.#reserve();
    const names = [...properties];
    const missing = [...required].filter((each) => !properties.has(each));
    const isOpen = others !== undefined || patterns.length > 0;
    this.#define(
      name,
      [
        // Required fields, if any, are missing in a Map and similar objects.
        ...(required.size === 0
          ? [`if (t.isOpaque(v)) return t.mismatch(v, 'an object', d);`]
          : []),
        ...names.map(([key, schema], at) =>
          this.#field(key, schema, { at, isRequired: required.has(key) }),
        ),
        ...missing.map((key) => `if (${read(key)} === undefined) ${missingField(key)}`),
        `const r = { ${names.map(([key], at) => `${propertyName(key)}: x${at}`).join(', ')} };`,
        ...(isOpen ? [this.#otherFields([...properties.keys()], { others, patterns })] : []),
        'return r;',
      ].join('\n'),
    );
    return name;
  }

  /** Reads the field `key` into the variable `x<at>`. */
  #field(
    key: string,
    schema: Schema,
    { at, isRequired }: { at: number; isRequired: boolean },
  ): string {
    const shapes = shapesOf(schema, this.#root);
    const copy = `t.path[d] = ${literal(key)}; x${at} = ${this.#copyOf(schema)}(x${at}, t, d + 1);`;
    const leaves = this.#leavesOf(schema);
    const isAny = shapes.some(({ kind }) => kind === 'any');
    const check = leaves && `!(${checkOf(leaves).replaceAll(/\bv\b/g, `x${at}`)})`;
    const copied = isAny ? '' : check === undefined ? `{ ${copy} }` : `if (${check}) { ${copy} }`;
    return [
      `let x${at} = ${read(key)};`,
      isRequired ? `if (x${at} === undefined) ${missingField(key)}` : '',
      copied && `${isRequired ? 'else' : `if (x${at} !== undefined)`} ${copied}`,
    ].join('\n');
  }

  #otherFields(
    declared: readonly string[],
    { others, patterns }: Pick<ObjectShape, 'others' | 'patterns'>,
  ): string {
    const copy = (schema: Schema) => `t.set(r, k, ${this.#copyOf(schema)}(v[k], t, d + 1));`;
    const matching = patterns.map(
      ([pattern, schema]) =>
        `if (new RegExp(${literal(pattern)}, 'u').test(k)) { ${copy(schema)} continue; }`,
    );
    return `for (const k of Object.keys(v)) {
if (${declared.map((key) => `k === ${literal(key)}`).join(' || ') || 'false'}) continue;
t.path[d] = k;
${matching.join('\n')}
${others === undefined ? '' : copy(others)}
}`;
  }

  #arrayCopy({ first, rest }: ArrayShape): string {
    const name = this.#reserve();
    const copies = first.map((schema) => this.#copyOf(schema));
    const choice = copies.map((each, index) => `i === ${index} ? ${each}(v[i], t, d + 1) : `);
    const other = rest === undefined ? 'undefined' : `${this.#copyOf(rest)}(v[i], t, d + 1)`;
    const length = rest === undefined ? `Math.min(v.length, ${first.length})` : 'v.length';
    const leaves = first.length === 0 && rest !== undefined ? this.#leavesOf(rest) : undefined;
    this.#define(
      name,
      [
        // A list of leaves has no fields: if all fit, it needs no copy.
        ...(leaves ? [`if (v.every((v) => ${checkOf(leaves)})) return v;`] : []),
        `const r = [];
for (let i = 0; i < ${length}; i++) { t.path[d] = i; r.push(${choice.join('')}${other}); }
return r;`,
      ].join('\n'),
    );
    return name;
  }

  /** The types of a schema of leaves; `undefined` if it has other shapes. */
  #leavesOf(schema: Schema): readonly LeafType[] | undefined {
    const shapes = shapesOf(schema, this.#root);
    const leaves = shapes.flatMap((shape) => (shape.kind === 'leaf' ? [shape.type] : []));
    return leaves.length === shapes.length ? leaves : undefined;
  }
}

function checkOf(types: readonly LeafType[]): string {
  return types.map((type) => CHECKS[type]).join(' || ') || 'false';
}

function describe(shapes: readonly Shape[]): string {
  const names = shapes.map((shape) => withArticle(shape.kind === 'leaf' ? shape.type : shape.kind));
  return [...new Set(names)].join(' or ');
}

/** Reads a field of `v`; never what every object inherits, such as `constructor`. */
function read(key: string): string {
  const value = `v[${literal(key)}]`;
  return key in Object.prototype
    ? `(Object.hasOwn(v, ${literal(key)}) ? ${value} : undefined)`
    : value;
}

/** The name in an object literal; `"__proto__": x` would set the prototype. */
function propertyName(key: string): string {
  return key === '__proto__' ? `[${literal(key)}]` : literal(key);
}

function missingField(key: string): string {
  return `t.fail('is missing', d, ${literal(key)});`;
}

/** A value of the schema as source text; also a line separator is escaped. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
