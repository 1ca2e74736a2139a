/** The fields of a user that a client sends. */
export interface Content {
  readonly name: string;
  readonly email: string;
}

/** A user in a response. */
export interface UserState extends Content {
  readonly id: string;
  readonly version: number;
}

/** What a client requests. */
export type Request =
  /** `key` is the number of the idempotency key in its group. */
  | ({ readonly kind: 'create'; readonly key: number } & Content)
  | { readonly kind: 'read'; readonly id: string }
  /** `ifVersion` is the version in `If-Match`. */
  | ({
      readonly kind: 'change';
      readonly id: string;
      readonly ifVersion: number;
    } & Partial<Content>)
  | { readonly kind: 'delete'; readonly id: string; readonly ifVersion?: number };

/** A response. */
export interface Outcome {
  readonly status: number;
  readonly user?: UserState;
}

/** A request and its response. Without `status` the outcome is unknown. Times are in microseconds. */
export type Operation = Request &
  Partial<Outcome> & { readonly client: number; readonly call: number; readonly return: number };

/** Operations on idempotency keys, e-mail addresses and users that no other group uses. */
export interface Group {
  readonly name: string;
  readonly operations: readonly Operation[];
}
