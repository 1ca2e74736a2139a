import { annotate } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { type OpenApiOptions, openapi } from '@fw/openapi';
import { compose, type Middleware } from 'fw';

export interface DocumentsOptions extends Pick<OpenApiOptions, 'securitySchemes'> {
  /** The name of the service: behind a proxy its page is at `/docs/<name>`. */
  readonly name: string;
  readonly title: string;
  /** In CommonMark. */
  readonly description: string;
  readonly routers: NonNullable<OpenApiOptions['routers']>;
}

/**
 * Serves the OpenAPI document of a service and its page at `/openapi.json` and `/docs`, and again at
 * `/docs/<name>/openapi.json` and `/docs/<name>`, for proxies that choose a service by path prefix.
 */
export function documents({ name, title, description, ...rest }: DocumentsOptions): Middleware {
  const info = {
    title,
    version: '2.0.0',
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  };
  const own = openapi({ ...rest, info });
  const behindProxy = openapi({
    ...rest,
    info,
    path: `/docs/${name}/openapi.json`,
    docs: `/docs/${name}`,
  });
  return annotate(compose([own, behindProxy]), metadataOf(own) ?? {});
}
