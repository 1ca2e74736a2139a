import { isSubtype, TOO_MANY } from './alternatives.ts';
import {
  type ArrayShape,
  join,
  type LeafShape,
  type LeafType,
  type ObjectShape,
  REQUIRED,
  type Schema,
  type Shape,
  shapesOf,
} from './shapes.ts';
import type { JsonSchema } from './subschemas.ts';

const CHECKS: Readonly<Record<LeafType, string>> = {
  string: "typeof v === 'string'",
  number: "typeof v === 'number' && v - v === 0", // finite
  integer: 'Number.isInteger(v)',
  boolean: "typeof v === 'boolean'",
  null: 'v === null',
};

/** The source of a serializer, and the values that it takes as `c`. */
export interface SerializerSource {
  readonly source: string;
  readonly constants: readonly unknown[];
}

/** How deep a value is compared with alternatives that no field of them distinguishes. */
const COMPARED_DEPTH = 3;

/** A field with more schemas has one function for all sets of them, which may send a field of another one. */
const MAX_SETS_OF = 4;

/** One of the schemas of a field or an item, and the source of the condition under which it applies. */
interface Candidate {
  readonly schema: Schema;
  readonly condition: string;
}

/** Sets of alternatives in alternatives multiply. */
const MAX_FUNCTIONS = 10_000;

const ALWAYS = 'true';

/** Deeper values are not copied: an object may contain itself. */
export const MAX_DEPTH = 200;

/**
 * Generates the body of a function that returns the function `(value, trace, depth) => copy`. The copy
 * has exactly the declared fields, as object literals: their shapes are constant, so that V8 allocates
 * and stringifies them fast. Names and values of the schema occur only as JSON.
 */
export function serializerSource(root: JsonSchema): SerializerSource {
  return new Generator(root).generate();
}

class Generator {
  readonly #root: JsonSchema;
  readonly #functions: string[] = [];
  /** The functions by the JSON of their schema: the function of a recursive schema calls itself. */
  readonly #names = new Map<string, string>();
  readonly #shapes = new Map<Schema, readonly Shape[]>();
  readonly #tables: string[] = [];
  readonly #constants: unknown[] = [];

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  generate(): SerializerSource {
    const entry = this.#copyOf(this.#root);
    const lines = ["'use strict';", ...this.#functions, ...this.#tables, `return ${entry};`];
    return { source: lines.join('\n'), constants: this.#constants };
  }

  #shapesOf(schema: Schema): readonly Shape[] {
    const shapes = this.#shapes.get(schema) ?? shapesOf(schema, this.#root);
    this.#shapes.set(schema, shapes);
    return shapes;
  }

  /** The name of the function that copies a value of `schema`. */
  #copyOf(schema: Schema): string {
    const key = JSON.stringify(schema);
    const present = this.#names.get(key);
    if (present !== undefined) return present;
    const name = this.#reserve();
    this.#names.set(key, name);
    this.#define(name, this.#bodyOf(this.#shapesOf(schema)));
    return name;
  }

  #reserve(): string {
    if (this.#functions.length > MAX_FUNCTIONS) throw new TypeError(TOO_MANY);
    return `f${this.#functions.push('') - 1}`;
  }

  #define(name: string, body: string): void {
    this.#functions[Number(name.slice(1))] = `function ${name}(v, t, d) {\n${body}\n}`;
  }

  #bodyOf(shapes: readonly Shape[]): string {
    if (shapes.some(({ kind }) => kind === 'any')) return 'return v;';
    if (shapes.length === 0) return "t.fail('must be absent', d);";
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
    if (only && shapes.length === 1) return `return ${this.#arrayCopy(only)}(v, t, d);`;
    const rests = shapes.map(({ rest = false }) => rest);
    if (
      shapes.every(({ first }) => first.length === 0) &&
      rests.every((each) => this.#leavesOf(each))
    ) {
      const rest = join('anyOf', rests);
      return `return ${this.#arrayCopy({ kind: 'array', first: [], rest })}(v, t, d);`;
    }
    return `{\n${this.#fitting(shapes)}\n${this.#unionOfItems(shapes)}\n}`;
  }

  #callObject(shapes: readonly ObjectShape[]): string {
    const [only] = shapes;
    if (only && shapes.length === 1) return `return ${this.#objectCopy(only)}(v, t, d);`;
    if (!this.#areExclusive(shapes)) {
      return `${this.#fitting(shapes)}\n${this.#unionOfFields(shapes)}`;
    }
    const choices = shapes.map(
      (shape) => `if (${this.#fits(shape, 0)}) return ${this.#objectCopy(shape)}(v, t, d);`,
    );
    const name = this.#reserve();
    this.#define(name, this.#unionOfFields(shapes, ALWAYS));
    return [
      ...choices,
      "t.fail('fits none of the alternatives', d);",
      `return ${name}(v, t, d);`,
    ].join('\n');
  }

  /** Whether a field distinguishes any two of `shapes`: at most one of them fits a value. */
  #areExclusive(shapes: readonly ObjectShape[]): boolean {
    const areDistinct = (one: ObjectShape, other: ObjectShape) =>
      [...one.required, ...other.required].some((name) => {
        const left = this.#shapesOf(one.properties.get(name) ?? true);
        const right = this.#shapesOf(other.properties.get(name) ?? true);
        return !left.some((a) => right.some((b) => mayBeEqual(a, b)));
      });
    return shapes.every((one, at) =>
      shapes.slice(at + 1).every((other) => areDistinct(one, other)),
    );
  }

  /** Sets `a0`, `a1` … to which of `shapes` fit `v`; if none does, to those that fit on the surface, or all. */
  #fitting(shapes: readonly (ObjectShape | ArrayShape)[]): string {
    const any = shapes.map((_, at) => `a${at}`).join(' || ');
    const set = (depth: number) =>
      shapes.map((shape, at) => `a${at} = ${this.#fits(shape, depth)}`).join(', ');
    return `let ${set(COMPARED_DEPTH)};
const fits = ${any};
if (!fits) { ${set(0)}; if (!(${any})) ${shapes.map((_, at) => `a${at} = `).join('')}true; }`;
  }

  /** Copies the fields that a fitting alternative of `shapes` declares: `a0`, `a1` …, or those of `condition`. */
  #unionOfFields(shapes: readonly ObjectShape[], condition?: string): string {
    const names = [...new Set(shapes.flatMap(({ properties }) => [...properties.keys()]))];
    const flag = (at: number) => condition ?? `a${at}`;
    const fields = names.map((name) => {
      const all = shapes.flatMap((shape, at) =>
        schemasOf(shape, name).map((schema) => ({ schema, condition: flag(at) })),
      );
      const isDescribed = anyOf(all.filter(({ schema }) => schema !== REQUIRED));
      const candidates = all.map(({ schema, condition }) => ({
        schema,
        condition: schema === REQUIRED ? `${condition} && !(${isDescribed})` : condition,
      }));
      const store = (value: string) =>
        name === '__proto__' ? `t.set(r, k, ${value})` : `r[${literal(name)}] = ${value}`;
      const schemas = new Set(all.map(({ schema }) => JSON.stringify(schema)));
      const isShared = all.length === shapes.length && schemas.size === 1;
      const copy = this.#copyByCandidates(
        isShared ? [{ schema: all[0]!.schema, condition: ALWAYS }] : candidates,
        'anyOf',
        store,
      );
      return copy && `k = ${literal(name)}; x = ${read(name)}; if (x !== undefined) { ${copy} }`;
    });
    const rules = shapes.flatMap((shape, at) => this.#rulesOf(shape, flag(at)));
    return [
      'const r = {}; let k, x;',
      ...fields,
      this.#otherFields(names, rules, 'anyOf'),
      ...(condition === undefined
        ? ["if (!fits) t.fail('fits none of the alternatives', d);"]
        : []),
      'return r;',
    ].join('\n');
  }

  #unionOfItems(shapes: readonly ArrayShape[]): string {
    const length = Math.max(...shapes.map(({ first }) => first.length));
    const copyAt = (index: number) => {
      const candidates = shapes.flatMap(({ first, rest }, at) => {
        const schema = first[index] ?? rest;
        return schema === undefined ? [] : [{ schema, condition: `a${at}` }];
      });
      return this.#copyByCandidates(candidates, 'anyOf', (value) => `r.push(${value})`);
    };
    const cases = Array.from({ length }, (_, at) => `case ${at}: { ${copyAt(at)} break; }`);
    return `const r = [];
for (let k = 0; k < v.length; k++) {
const x = v[k];
switch (k) { ${cases.join('\n')} default: { ${copyAt(length)} } }
}
if (!fits) t.fail('fits none of the alternatives', d);
return r;`;
  }

  /** Copies the value `x` of the key `k` by those of `candidates` that apply; `store` stores the copy. */
  #copyByCandidates(
    candidates: readonly Candidate[],
    keyword: 'anyOf' | 'allOf',
    store: (value: string) => string,
  ): string {
    if (candidates.length === 0) return '';
    const call = (callee: string) => `t.path[d] = k; ${store(`${callee}(x, t, d + 1)`)};`;
    if (candidates.every(({ condition }) => condition === ALWAYS)) {
      const schemas = candidates.map(({ schema }) => schema);
      return call(this.#copyOf(join(keyword, schemas)));
    }
    const isAny = ({ schema }: Candidate) =>
      this.#shapesOf(schema).some(({ kind }) => kind === 'any');
    const sets = this.#copyBySet(
      candidates.filter((each) => !isAny(each)),
      keyword,
    );
    const choices = [
      { condition: `(f = ${sets})`, copy: call('f') },
      { condition: anyOf(candidates.filter(isAny)), copy: `${store('x')};` },
    ];
    if (keyword === 'anyOf') choices.reverse(); // any value includes all others
    return `let f; ${choices.map(({ condition, copy }) => `if (${condition}) { ${copy} }`).join(' else ')}`;
  }

  /** An expression: the function that copies by those of `candidates` that apply, if any. */
  #copyBySet(candidates: readonly Candidate[], keyword: 'anyOf' | 'allOf'): string {
    const isLeaf = (schema: Schema) => keyword === 'anyOf' && this.#leavesOf(schema) !== undefined;
    const keyOf = ({ schema }: Candidate) => (isLeaf(schema) ? 'leaf' : JSON.stringify(schema));
    const distinct = [...Map.groupBy(candidates, keyOf).values()].map((same) => ({
      schema: join(
        'anyOf',
        same.map(({ schema }) => schema),
      ),
      condition: anyOf(same),
    }));
    const schemas = distinct.map(({ schema }) => schema);
    if (distinct.length === 1 || distinct.length > MAX_SETS_OF) {
      return `(${anyOf(distinct)}) && ${this.#copyOf(join('anyOf', schemas))}`;
    }
    const sets = Array.from({ length: 2 ** distinct.length }, (_, bitmap) => {
      const applied = schemas.filter((_schema, at) => bitmap & (2 ** at));
      return applied.length === 0 ? 'undefined' : this.#copyOf(join(keyword, applied));
    });
    const table = `m${this.#tables.length}`;
    this.#tables.push(`const ${table} = [${sets.join(', ')}];`);
    const bits = distinct.map(({ condition }, at) => `((${condition}) ? ${2 ** at} : 0)`);
    return `${table}[${bits.join(' | ') || '0'}]`;
  }

  /** The schemas of the fields with other names `k`, as far as `condition` applies. */
  #rulesOf({ others }: ObjectShape, condition = ALWAYS): Candidate[] {
    const tests = others.map(({ test }) =>
      test ? `c[${this.#constants.push(test) - 1}](k)` : ALWAYS,
    );
    const mustBeAbsent = tests.filter((_, at) => others[at]?.schema === false);
    return others.flatMap(({ schema }, at) => {
      const all = [condition, tests[at]!, ...mustBeAbsent.map((test) => `!${test}`)];
      const needed = all.filter((each) => each !== ALWAYS).join(' && ');
      return schema === false ? [] : [{ schema, condition: needed || ALWAYS }];
    });
  }

  /** A test whether the value `v` fits; fields and items are compared down to `depth`. */
  #fits(shape: ObjectShape | ArrayShape, depth: number): string {
    return shape.kind === 'array' ? this.#fitsItems(shape, depth) : this.#fitsFields(shape, depth);
  }

  /** Whether the object `v` has the required fields and none of another type or value. */
  #fitsFields(shape: ObjectShape, depth: number): string {
    const { properties, required } = shape;
    const tests = [...properties].flatMap(([name, schema]) => {
      const value = read(name);
      const isRequired = required.has(name);
      const accepted = this.#accepted(schema, value, depth);
      if (accepted === undefined) return isRequired ? [`${value} !== undefined`] : [];
      return isRequired ? [`(${accepted})`] : [`(${value} === undefined || ${accepted})`];
    });
    const others = depth > 0 && shape.others.length > 0 ? [this.#fitsOthers(shape, depth)] : [];
    return [...tests, ...others].join(' && ') || 'true';
  }

  #fitsOthers(shape: ObjectShape, depth: number): string {
    const name = this.#reserve();
    const tests = this.#rulesOf(shape).flatMap(({ schema, condition }) => {
      const accepted = this.#accepted(schema, 'v[k]', depth);
      return accepted === undefined ? [] : [`if (${condition} && !${accepted}) return false;`];
    });
    this.#define(
      name,
      `for (const k of Object.keys(v)) {
${skip([...shape.properties.keys()])}
${tests.join('\n')}
}
return true;`,
    );
    return `${name}(v)`;
  }

  #fitsItems({ first, rest }: ArrayShape, depth: number): string {
    if (depth === 0) return 'true';
    const tests = first.map((schema, at) => {
      const accepted = this.#accepted(schema, `v[${at}]`, depth);
      return accepted === undefined ? 'true' : `(v.length <= ${at} || ${accepted})`;
    });
    const others = rest === undefined ? undefined : this.#accepted(rest, 'e', depth);
    const every =
      others === undefined ? [] : [`v.every((e, i) => i < ${first.length} || ${others})`];
    return [...tests, ...every].join(' && ') || 'true';
  }

  /** A test whether `schema` accepts the value of an expression; `undefined` if it always does. */
  #accepted(schema: Schema, expression: string, depth: number): string | undefined {
    const shapes = this.#shapesOf(schema);
    if (shapes.some(({ kind }) => kind === 'any')) return undefined;
    const key = `${depth} ${JSON.stringify(schema)}`;
    const present = this.#names.get(key);
    if (present !== undefined) return `${present}(${expression})`;
    const name = this.#reserve();
    this.#names.set(key, name);
    const tests = shapes.map((shape) => {
      if (shape.kind === 'any') return 'true';
      if (shape.kind === 'leaf') return leafTest(shape);
      const inner = depth === 0 ? 'true' : this.#fits(shape, depth - 1);
      const isArray = shape.kind === 'array' ? 'Array.isArray(v)' : '!Array.isArray(v)';
      return `typeof v === 'object' && v !== null && ${isArray} && ${inner}`;
    });
    this.#define(
      name,
      `if (typeof v === 'object' && v !== null && typeof v.toJSON === 'function' && !(v instanceof Date)) v = v.toJSON('');
return ${tests.join(' || ') || 'false'};`,
    );
    return `${name}(${expression})`;
  }

  #objectCopy(shape: ObjectShape): string {
    const { properties, required } = shape;
    const name = this.#reserve();
    const names = [...properties].filter(([, schema]) => schema !== false);
    const rules = this.#rulesOf(shape);
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
        `const r = { ${names.map(([key], at) => `${propertyName(key)}: x${at}`).join(', ')} };`,
        this.#otherFields([...properties.keys()], rules, 'allOf'),
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
    const shapes = this.#shapesOf(schema);
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
    rules: readonly Candidate[],
    keyword: 'anyOf' | 'allOf',
  ): string {
    const copy = this.#copyByCandidates(rules, keyword, (value) => `t.set(r, k, ${value})`);
    if (copy === '') return '';
    return `for (const k of Object.keys(v)) {
${skip(declared)}
const x = v[k];
${copy}
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
    const shapes = this.#shapesOf(schema);
    const leaves = shapes.flatMap((shape) => (shape.kind === 'leaf' ? [shape.type] : []));
    return leaves.length === shapes.length ? leaves : undefined;
  }
}

/** The schemas of a field that may have a name which other alternatives declare. */
function schemasOf({ properties, others }: ObjectShape, name: string): readonly Schema[] {
  const own = properties.get(name);
  if (own !== undefined) return own === false ? [] : [own];
  const schemas = others.filter(({ test }) => test?.(name) !== false).map(({ schema }) => schema);
  return schemas.length === 0 || schemas.includes(false) ? [] : [join('allOf', schemas)];
}

/** Whether one value may fit both shapes. */
function mayBeEqual(one: Shape, other: Shape): boolean {
  if (one.kind === 'any' || other.kind === 'any') return true;
  if (one.kind !== 'leaf' || other.kind !== 'leaf') return one.kind === other.kind;
  const isSame = isSubtype(one.type, other.type) || isSubtype(other.type, one.type);
  return isSame && (one.values?.some((value) => other.values?.includes(value) ?? true) ?? true);
}

function leafTest({ type, values }: LeafShape): string {
  if (values) return values.map((one) => `v === ${literal(one)}`).join(' || ');
  return type === 'string' ? `${CHECKS.string} || v instanceof Date` : CHECKS[type];
}

/** A condition under which one of `candidates` applies. */
function anyOf(candidates: readonly Candidate[]): string {
  return [...new Set(candidates.map(({ condition }) => condition))].join(' || ') || 'false';
}

function checkOf(types: readonly LeafType[]): string {
  return types.map((type) => CHECKS[type]).join(' || ') || 'false';
}

function describe(shapes: readonly Shape[]): string {
  const names = shapes.map((shape) => withArticle(shape.kind === 'leaf' ? shape.type : shape.kind));
  return [...new Set(names)].join(' or ');
}

/** A JSON type with its article. */
export function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Continues a loop with the next name `k` for each of `names`. */
function skip(names: readonly string[]): string {
  const tests = names.map((name) => `k === ${literal(name)}`);
  return tests.length === 0 ? '' : `if (${tests.join(' || ')}) continue;`;
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
