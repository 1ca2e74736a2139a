import type { AnyVariables } from './config.ts';
import { factsOf } from './variable.ts';

/** One variable of a service, for whoever sets it. */
export interface VariableDescription {
  readonly name: string;
  readonly default?: string;
  readonly unit?: string;
  readonly meaning: string;
  readonly secret: boolean;
}

/** What each of `variables` is for, in their order. */
export function describeVariables(variables: AnyVariables): VariableDescription[] {
  return Object.entries(variables).map(([name, schema]) => {
    const { fallback, unit, meaning, isSecret = false } = factsOf(name, schema);
    return {
      name,
      ...(fallback !== undefined && { default: fallback }),
      ...(unit && { unit }),
      meaning,
      secret: isSecret,
    };
  });
}
