export type { Attempt, Intercept, RawResponse } from './attempt.ts';
export type { CallContext, CallOptions } from './call-options.ts';
export { createClient } from './client.ts';
export type { ClientOptions } from './client-options.ts';
export type { ClientClock } from './clock.ts';
export {
  type CallFailure,
  ProblemError,
  type ProblemErrorOptions,
  type ValidationIssue,
} from './problem-error.ts';
export type { Client, ClientResponse } from './typed-calls.ts';
