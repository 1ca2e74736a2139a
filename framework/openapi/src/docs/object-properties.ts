type Schema = Readonly<Record<string, unknown>>;

/** A property of an object schema. */
export interface Property {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** A schema that combines itself has no end. */
const MAX_DEPTH = 8;

/**
 * The properties of an object schema and of the schemas that it combines with `allOf`, each once.
 * `resolve` returns the schema that a reference names. The documentation page runs this code.
 */
export function propertiesOf(
  schema: Schema,
  resolve: (schema: Schema) => Schema,
  depth = 0,
): Property[] {
  const { properties, required, allOf } = resolve(schema);
  const combined = (Array.isArray(allOf) && depth < MAX_DEPTH ? allOf : []).flatMap((part) =>
    propertiesOf(part, resolve, depth + 1),
  );
  const own = Object.entries(Object(properties)).map(([name, part]) => ({
    name,
    schema: Object(part) === part ? (part as Schema) : {},
    required: Array.isArray(required) && required.includes(name),
  }));
  return [...new Map([...combined, ...own].map((each) => [each.name, each])).values()];
}
