import openapiTS, { astToString } from 'openapi-typescript';

/** The TypeScript types of an OpenAPI document in JSON: the parameter of `createClient` is `paths`. */
export async function typesOf(text: string): Promise<string> {
  // openapi-typescript 7 ignores the schemas of events, and of the JSON in their data.
  const document = JSON.parse(text, (_key, value) =>
    value?.itemSchema ? { ...value, schema: value.itemSchema } : (value?.contentSchema ?? value),
  );
  return astToString(await openapiTS(document));
}
