import type { ConfigOf } from '../config/read-config.ts';
import { day, oneOf } from '../config/variables.ts';
import type { ApiVersion } from './mount-versions.ts';

/**
 * The environment variables that announce the end of version 1 and rehearse it. `deprecatedSince` is a day
 * such as `2026-12-01`.
 */
export function versionVariables(deprecatedSince: string) {
  return {
    V1_SUNSET: day()
      .refine((end) => end >= deprecatedSince, `must not be before ${deprecatedSince}`)
      .optional()
      .meta({ description: 'day on which version 1 ends, announced by `Sunset`; none: no end' }),
    WITHOUT_VERSION: oneOf(['v1'])
      .optional()
      .meta({ description: 'old version that is not served: its paths respond with 410' }),
  };
}

/** The values of `versionVariables`. Default: version 1 is served, and no end is announced. */
export type VersionConfig = Partial<ConfigOf<ReturnType<typeof versionVariables>>>;

/** The members of version 1 that depend on its retirement, for `mountVersions`. */
export function retirementOf(
  { since, successor }: { readonly since: string; readonly successor: string },
  { V1_SUNSET, WITHOUT_VERSION }: VersionConfig = {},
): Pick<ApiVersion, 'deprecated' | 'isRemoved'> {
  const sunset = V1_SUNSET === undefined ? undefined : new Date(V1_SUNSET);
  return {
    deprecated: { since: new Date(since), sunset, successor },
    isRemoved: WITHOUT_VERSION === 'v1',
  };
}
