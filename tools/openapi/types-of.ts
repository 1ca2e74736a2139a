import openapiTS, { astToString } from 'openapi-typescript';

/** The TypeScript types of an OpenAPI document: the parameter of `createClient` is `paths`. */
export async function typesOf(document: URL | object): Promise<string> {
  // The declared parameter is a precise document type; the function validates it.
  const nodes = await openapiTS(document as URL);
  return astToString(nodes);
}
