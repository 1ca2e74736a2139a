import type { Tracing, TracingOptions } from './tracing.ts';

/** Starts sending spans by OTLP over HTTP, in JSON; only this loads OpenTelemetry. */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { createTracing } = await import('./otlp.ts');
  return createTracing(options);
}
