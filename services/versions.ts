import { type ApiVersion, type ConfigOf, day, oneOf } from '@fw/service';

import { VERSIONS } from './services.ts';

const { v1 } = VERSIONS;

/** The environment variables that announce the end of version 1 and rehearse it. */
export const VERSION_VARIABLES = {
  V1_SUNSET: day()
    .refine((end) => end >= v1.deprecatedSince, `must not be before ${v1.deprecatedSince}`)
    .optional()
    .meta({ description: 'day on which version 1 ends, announced by `Sunset`; none: no end' }),
  WITHOUT_VERSION: oneOf(['v1'])
    .optional()
    .meta({ description: 'old version that is not served: its paths respond with 410' }),
};

export type VersionConfig = Partial<ConfigOf<typeof VERSION_VARIABLES>>;

type VersionName = keyof typeof VERSIONS;

/** The versions of an API at `paths`. Default: every version is served, and no end is announced. */
export function versionsOf(
  paths: Readonly<Record<VersionName, string>>,
  { V1_SUNSET, WITHOUT_VERSION }: VersionConfig = {},
): Readonly<Record<VersionName, ApiVersion>> {
  return {
    v1: {
      name: 'v1',
      path: paths.v1,
      deprecated: {
        since: new Date(v1.deprecatedSince),
        sunset: V1_SUNSET === undefined ? undefined : new Date(V1_SUNSET),
        successor: paths[v1.successor],
      },
      isRemoved: WITHOUT_VERSION === 'v1',
    },
    v2: { name: 'v2', path: paths.v2 },
  };
}
