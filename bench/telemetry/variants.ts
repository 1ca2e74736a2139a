/** Parts of the telemetry of a service, from none to all. */
export const VARIANTS = {
  none: 'no telemetry',
  metrics: 'metrics, tracing disabled',
  log: 'metrics and a log line per request, tracing disabled',
  tracing: 'metrics, log line and tracing: each request and its statement is exported',
} as const;

export type Variant = keyof typeof VARIANTS;
