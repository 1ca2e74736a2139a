// The store inside a peer that has types for its plugin only.

declare module '@fastify/rate-limit/store/LocalStore.js' {
  export default class LocalStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, cache: number);
    incr(key: string, done: () => void, windowMs: number, max: number): void;
  }
}
