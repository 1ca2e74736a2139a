// The store of @fastify/rate-limit, which only declares types for its plugin.

declare module '@fastify/rate-limit/store/LocalStore.js' {
  export default class LocalStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, cache: number);
    incr(key: string, done: () => void, windowMs: number, max: number): void;
  }
}
