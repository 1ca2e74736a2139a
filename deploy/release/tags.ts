import { SERVICE_NAMES } from '../../services/services.ts';

export interface NewTag {
  /** The chart of the release: `platform`, or the name of a service. */
  readonly chart: string;
  readonly tag: string;
  /** The service that gets the tag; empty: all services of the release. */
  readonly service: string;
  /** `global.image.tag` of the installed release, which would override the tag of a service. */
  readonly sharedTag: string;
}

/** The values that give services a new tag, such as `users.image.tag=1.2.3`. */
export function tagValues({ chart, tag, service, sharedTag }: NewTag): string[] {
  if (chart !== 'platform') return [`image.tag=${tag}`];
  const tags = SERVICE_NAMES.map((name) => {
    return [name, service === '' || service === name ? tag : sharedTag] as const;
  });
  const changed = tags.filter(([, text]) => text !== '');
  return ['global.image.tag=', ...changed.map(([name, text]) => `${name}.image.tag=${text}`)];
}
