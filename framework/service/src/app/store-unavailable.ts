/** The 503 response of operations that use a store, for `endpoint()`. */
export const STORE_UNAVAILABLE = {
  503: {
    description: 'The store is unavailable',
    headers: { 'Retry-After': 'Seconds to wait before the next request' },
  },
};
