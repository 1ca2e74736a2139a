import * as z from 'zod';

import { integer, oneOf, url } from '../config/variables.ts';

/** The values of `OTEL_TRACES_SAMPLER`: https://opentelemetry.io/docs/languages/sdk-configuration/general/ */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The variables of traces, with the names and the meaning that OpenTelemetry specifies. */
export function tracingVariables() {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https')
      .optional()
      .meta({ description: 'OpenTelemetry collector of traces; none: no tracing' }),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url('http', 'https')
      .optional()
      .meta({ description: 'the same as a whole URL, to which /v1/traces is not added' }),
    OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/json'])
      .default('http/json')
      .meta({ description: 'how spans are sent' }),
    OTEL_EXPORTER_OTLP_HEADERS: pairs()
      .optional()
      .meta({ description: 'headers for the collector, such as a token', secret: true }),
    OTEL_EXPORTER_OTLP_TIMEOUT: integer(1, 600_000)
      .default(10_000)
      .meta({ description: 'time limit for sending spans to the collector', unit: 'ms' }),
    OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(['none', 'gzip'])
      .default('none')
      .meta({ description: 'compression of spans' }),
    OTEL_TRACES_SAMPLER: oneOf(SAMPLERS)
      .default('parentbased_always_on')
      .meta({ description: 'which requests are traced; parentbased: the traceparent decides' }),
    OTEL_TRACES_SAMPLER_ARG: z
      .string()
      .regex(/^(?:0|1|[01]\.0+|0?\.\d+)$/, 'must be a number from 0 to 1')
      .transform(Number)
      .default(1)
      .meta({ description: 'the share of requests that the samplers with traceidratio trace' }),
    OTEL_SERVICE_NAME: z
      .string()
      .max(255, 'must have at most 255 characters')
      .optional()
      .meta({ description: 'name of the service in traces; none: its own name' }),
    OTEL_RESOURCE_ATTRIBUTES: pairs()
      .optional()
      .meta({ description: 'attributes of all spans, such as deployment.environment.name=test' }),
  };
}

/** A list such as `a=1,b=2`; a comma, an equals sign and other characters are percent-encoded (W3C Baggage). */
function pairs() {
  return z.string().refine(arePairs, 'must be a list such as name=value,other=value');
}

function arePairs(text: string): boolean {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return parts.every((part) => /^[^=]*[^=\s][^=]*=[^=]*$/.test(part) && isDecodable(part));
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text).length > 0;
  } catch {
    return false;
  }
}
