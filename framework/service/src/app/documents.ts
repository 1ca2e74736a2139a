import { annotate } from '@fw/core';
import { metadataOf } from '@fw/core/extension';
import { type OpenApiOptions, openapi } from '@fw/openapi';
import { compose, type Middleware } from 'fw';

export interface DocumentsOptions extends Pick<OpenApiOptions, 'securitySchemes'> {
  /** The name of the service: behind a proxy its page is at `/docs/<name>`. */
  readonly name: string;
  readonly title: string;
  /** The version of the service's package. */
  readonly version: string;
  /** In CommonMark. */
  readonly description: string;
  /** The license object of the document, such as `{ name: 'MIT', identifier: 'MIT' }`. Default none. */
  readonly license?: Readonly<Record<string, string>>;
  readonly routers: NonNullable<OpenApiOptions['routers']>;
}

/**
 * Serves the OpenAPI document of a service and its page at `/openapi.json` and `/docs`, and again at
 * `/docs/<name>/openapi.json` and `/docs/<name>`, for proxies that choose a service by path prefix.
 */
export function documents(options: DocumentsOptions): Middleware {
  const { name, title, version, description, license, ...rest } = options;
  const info = { title, version, description, ...(license && { license }) };
  const own = openapi({ ...rest, info });
  const behindProxy = openapi({
    ...rest,
    info,
    path: `/docs/${name}/openapi.json`,
    docs: `/docs/${name}`,
  });
  return annotate(compose([own, behindProxy]), metadataOf(own) ?? {});
}
