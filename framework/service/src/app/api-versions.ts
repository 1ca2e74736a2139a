/** When every `/api/v1` becomes deprecated. */
export const V1_DEPRECATED_SINCE = new Date('2026-12-01T00:00:00Z');
