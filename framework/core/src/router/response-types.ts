import type { ServerResponse } from 'node:http';

import type { Context, Parts } from '../context.ts';
import type { Body } from '../response/body.ts';
import type { JsonSchema, JsonSchemaKeyword } from '../schema/json-schema.ts';
import type { OutputOf, StandardSchema } from '../schema/standard-schema.ts';

/** No typed part of a request. */
export type NoParts = Record<never, never>;

/** How a response appears in the OpenAPI document. */
export interface ResponseDescription {
  /** Default: the reason phrase of the status. */
  readonly description?: string;
  /** A description by header name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default `application/json`, or `application/problem+json` from 400 on. */
  readonly mediaTypes?: readonly string[];
}

/** A response: the schema of its body, or a description with or without a schema. */
export type DeclaredResponse =
  | StandardSchema
  | JsonSchema
  | (ResponseDescription & { readonly schema?: unknown })
  | undefined;

/**
 * The codes of one status: one, a list, or by code the schema of its extension members (RFC 9457 §3.2),
 * `true` for none.
 */
export type DeclaredCodes =
  | string
  | readonly string[]
  | Readonly<Record<string, StandardSchema | JsonSchema | true>>;

/** Codes by status. */
export type CodesByStatus = Readonly<Record<number, DeclaredCodes>>;

/** The type of the JSON that an operation with these responses sends; `unknown` without a contract. */
export type ResponseOf<Responses> = [BodyOf<Responses, SuccessOf<Responses>>] extends [never]
  ? unknown
  : Sent<BodyOf<Responses, keyof Responses>>;

/** The declared statuses from 200 to 299. */
type SuccessOf<Responses> = {
  [Status in keyof Responses]: `${Status & number}` extends `2${string}` ? Status : never;
}[keyof Responses];

/** The union of the declared bodies of `Status`; `never` if these responses have none. */
type BodyOf<Responses, Status extends keyof Responses> = {
  [Key in Status]: SchemaOutput<Responses[Key]>;
}[Status];

type SchemaOutput<Response> = Response extends StandardSchema
  ? OutputOf<Response>
  : Response extends { readonly schema: infer Schema }
    ? OutputOf<Schema>
    : keyof Response & JsonSchemaKeyword extends never
      ? never
      : unknown;

/** `T` with read-only properties: a handler may send objects and lists that it cannot change. */
export type Sent<T> = T extends object
  ? T extends { toJSON(): unknown }
    ? T
    : { readonly [Key in keyof T]: Sent<T[Key]> }
  : T;

/** What a handler may return: any value, or with a contract only the declared response. */
export type Returned<Value, P extends Parts> = 'response' extends keyof P
  ? unknown extends P['response']
    ? Value
    : Fitting<Value, P['response']>
  : Value;

/** `Value` if it fits, else the type that it should have: the compiler reports the difference. */
type Fitting<Value, Declared> =
  Value extends Promise<infer Settled>
    ? Promise<Fitting<Settled, Declared>>
    : Value extends NotJson
      ? Value
      : Value extends Declared
        ? Value & WithoutExcess<Value, Declared>
        : Declared;

/** Returned values that are not sent as JSON: `ctx.json()` returns `undefined`, an empty function `void`. */
type NotJson = undefined | Context | ServerResponse | Exclude<Body, string | null>;

/** The type of a field that the responses do not declare; no value has it. */
interface Undeclared<Name> {
  readonly 'not declared in the responses': Name;
}

type WithoutExcess<Value, Declared> = unknown extends Declared
  ? unknown
  : Value extends object
    ? Value extends { toJSON(): unknown }
      ? unknown
      : Value extends readonly unknown[]
        ? { readonly [Key in keyof Value]: WithoutExcess<Value[Key], At<Declared, number>> }
        : {
            readonly [Key in keyof Value]: Key extends AnyKeyOf<Declared>
              ? WithoutExcess<Value[Key], At<Declared, Key>>
              : Undeclared<Key>;
          }
    : unknown;

type AnyKeyOf<Union> = Union extends unknown ? keyof Union : never;

type At<Union, Key> = Union extends unknown
  ? Key extends keyof Union
    ? Union[Key]
    : never
  : never;

type CodeOf<Codes> = Codes extends string
  ? Codes
  : Codes extends readonly (infer Code)[]
    ? Code
    : keyof Codes;

/** The types of the extension members by code. */
export type ErrorsOf<Errors> = {
  readonly [Code in CodeOf<Errors[keyof Errors]> & string]: MembersOf<Errors[keyof Errors], Code>;
};

/** The members of `Code`, in whichever status declares them. */
type MembersOf<Codes, Code extends string> = [SchemaOf<Codes, Code>] extends [StandardSchema]
  ? Sent<OutputOf<SchemaOf<Codes, Code>>>
  : [SchemaOf<Codes, Code>] extends [true]
    ? NoParts
    : Readonly<Record<string, unknown>>;

/** `true` if `Code` has no members. */
type SchemaOf<Codes, Code extends string> = Codes extends string | readonly string[]
  ? Code extends CodeOf<Codes>
    ? true
    : never
  : Codes extends Readonly<Record<Code, infer Schema>>
    ? Schema
    : never;
