import { expect, test } from 'vitest';

import { imageValues, readSettings, serviceImage } from './settings.ts';

test('without any variable, the charts’ own images are tried, with 40,000 requests a stream', () => {
  const settings = readSettings({});

  expect(serviceImage(settings)).toEqual({ registry: '', tag: '' });
  expect(imageValues(settings.images.edge)).toEqual({});
  expect(settings.streamRate * settings.streamSeconds).toBeGreaterThanOrEqual(40_000);
});

test('a prefix and a tag make the images of the services', () => {
  const settings = readSettings({ IMAGE_PREFIX: 'registry.example.org/fw/', TAG: '1.2.3' });

  expect(serviceImage(settings)).toEqual({ registry: 'registry.example.org/fw', tag: '1.2.3' });
});

test('another image may come from a registry with a port', () => {
  const { images } = readSettings({ NGINX_IMAGE: 'localhost:5000/nginx:1.30' });

  expect(imageValues(images.edge)).toEqual({
    image: { registry: '', repository: 'localhost:5000/nginx', tag: '1.30' },
  });
});

test.each([
  [{ KILL_NODE: 'power-off' }, 'KILL_NODE and START_NODE belong together'],
  [{ POSTGRES_IMAGE: 'postgres' }, 'POSTGRES_IMAGE is "postgres": expected an image and its tag'],
  [{ E2E_ALLOW_NODES: 'yes' }, 'E2E_ALLOW_NODES is "yes": expected 1, or 0 as by default'],
  [{ STREAM_RATE: '0' }, 'STREAM_RATE is "0": expected a whole number above 0'],
  [{ STREAM_SECONDS: 'long' }, 'STREAM_SECONDS is "long": expected a whole number above 0'],
])('%j is refused: %s', (env, message) => {
  expect(() => readSettings(env)).toThrow(message);
});
