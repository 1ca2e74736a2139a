import { annotate, type EndpointMetadata, type Middleware } from 'fw';

/** What the document says of one answer; an error needs no `schema`, it is a problem anyway. */
export interface DocumentedAnswer {
  readonly schema?: unknown;
  /** Default: the name of the status. */
  readonly description?: string;
  /** A description by header name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default JSON, or a problem from 400 on. */
  readonly mediaTypes?: readonly string[];
}

/** One operation as the document shows it. */
export interface DocumentedOperation extends Omit<EndpointMetadata, 'responses'> {
  /** What the operation reads and no `validate()` checks: schemas for these parts. */
  readonly reads?: {
    readonly body?: unknown;
    readonly query?: unknown;
    readonly headers?: unknown;
  };
  /** The media types of its body. Default JSON. */
  readonly bodyTypes?: readonly string[];
  /** Answers by status. */
  readonly answers?: Readonly<Record<number, DocumentedAnswer>>;
}

/**
 * Describes the route that it stands in, headers and errors included; does nothing to its requests.
 *
 * ```ts
 * router.get('/:id', documented({ summary: 'Read an item', answers: { 200: { schema: Item } } }), read);
 * ```
 */
export function documented(operation: DocumentedOperation): Middleware {
  const { reads, bodyTypes, answers = {}, ...said } = operation;
  const schemas = Object.entries(answers).filter(([, { schema }]) => schema !== undefined);
  return annotate<Middleware>((_ctx, next) => next(), {
    endpoint: {
      ...said,
      responses: Object.fromEntries(schemas.map(([status, { schema }]) => [status, schema])),
    },
    responses: answers,
    ...(reads && { validation: reads }),
    ...(bodyTypes && { body: { mediaTypes: bodyTypes } }),
  });
}
