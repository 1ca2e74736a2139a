import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../services/services.ts';
import { tagValues } from './tags.ts';

const PLATFORM = { chart: 'platform', tag: '1.2.3', service: '', sharedTag: '' };

test('every service of the platform gets the tag', () => {
  expect(tagValues(PLATFORM)).toEqual([
    'global.image.tag=',
    ...SERVICE_NAMES.map((name) => `${name}.image.tag=1.2.3`),
  ]);
});

test('one service gets the tag, and the others keep the shared one', () => {
  const [first, ...others] = SERVICE_NAMES;

  expect(tagValues({ ...PLATFORM, service: first ?? '', sharedTag: '1.0.0' })).toEqual([
    'global.image.tag=',
    `${first}.image.tag=1.2.3`,
    ...others.map((name) => `${name}.image.tag=1.0.0`),
  ]);
});

test('one service gets the tag, and the others keep their own', () => {
  expect(tagValues({ ...PLATFORM, service: 'users' })).toEqual([
    'global.image.tag=',
    'users.image.tag=1.2.3',
  ]);
});

test('the release of one service has one tag', () => {
  expect(tagValues({ ...PLATFORM, chart: 'users' })).toEqual(['image.tag=1.2.3']);
});
