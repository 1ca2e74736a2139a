export type { Attempt, CallContext, Intercept, RawResponse } from './attempt.ts';
export type { ClientResponse } from './call.ts';
export { type ApiProblem, type Client, createClient } from './client.ts';
export type { CallOptions, ClientClock, ClientOptions } from './client-options.ts';
export {
  type CallFailure,
  type Problem,
  ProblemError,
  type ProblemErrorOptions,
  type ValidationIssue,
} from './problem-error.ts';
export type { StreamEvent, StreamOptions } from './stream.ts';
