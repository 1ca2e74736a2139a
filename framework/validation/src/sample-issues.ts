import type { StandardSchema } from '@fw/core/schema';

/**
 * The messages of `schema` about the property `name` of the sample `value`; `undefined` if that cannot be
 * checked, because the schema is asynchronous or its code cannot process the sample.
 */
export function sampleIssues(
  schema: StandardSchema,
  value: object,
  name: string,
): readonly string[] | undefined {
  try {
    const result = schema['~standard'].validate(value);
    if ('then' in result) {
      result.then(undefined, () => undefined);
      return undefined;
    }
    const issues = (result.issues ?? []).filter(({ path }) => firstKeyOf(path) === name);
    return issues.map(({ message }) => message);
  } catch {
    return undefined;
  }
}

function firstKeyOf([step]: readonly unknown[] = []): unknown {
  return typeof step === 'object' && step !== null ? Reflect.get(step, 'key') : step;
}
