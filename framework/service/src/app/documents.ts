import { type OpenApiOptions, openapi } from '@fw/openapi';
import { compose, type Middleware } from 'fw';

export interface DocumentsOptions extends Pick<OpenApiOptions, 'securitySchemes'> {
  /** The service's name: `/docs/<name>` is where its page is found through an edge. */
  readonly name: string;
  readonly title: string;
  /** In CommonMark. */
  readonly description: string;
  readonly routers: NonNullable<OpenApiOptions['routers']>;
}

/**
 * Serves a service's OpenAPI document and the page to read it at `/openapi.json` and `/docs`, and the
 * same again at `/docs/<name>/openapi.json` and `/docs/<name>`: there an edge that tells services
 * apart by the beginning of a path finds them.
 */
export function documents({ name, title, description, ...rest }: DocumentsOptions): Middleware {
  const info = {
    title,
    version: '2.0.0',
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  };
  return compose([
    openapi({ ...rest, info }),
    openapi({ ...rest, info, path: `/docs/${name}/openapi.json`, docs: `/docs/${name}` }),
  ]);
}
