import type { ServerResponse } from 'node:http';

import type { Context, Parts } from '../context.ts';
import type { Body } from '../response/write-response.ts';
import type { OutputOf, StandardSchema } from '../schema/standard-schema.ts';
import type { JsonSchemaKeyword } from './endpoint.ts';

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
