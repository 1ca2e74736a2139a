import { expect, test } from 'vitest';

import { imageValues, readImages, serviceImage } from './images.ts';

test('without variables, the images of the charts are used', () => {
  const { images, ...settings } = readImages({});

  expect(serviceImage({ images, ...settings })).toEqual({ registry: '', tag: '' });
  expect(imageValues(images.edge)).toEqual({});
});

test('IMAGE_PREFIX and TAG choose the images of the services', () => {
  const settings = readImages({ IMAGE_PREFIX: 'registry.example.org/fw/', TAG: '1.2.3' });

  expect(serviceImage(settings)).toEqual({ registry: 'registry.example.org/fw', tag: '1.2.3' });
});

test('an image may come from a registry with a port', () => {
  const { images } = readImages({ NGINX_IMAGE: 'localhost:5000/nginx:1.30' });

  expect(imageValues(images.edge)).toEqual({
    image: { registry: '', repository: 'localhost:5000/nginx', tag: '1.30' },
  });
});

test('an image without a tag is rejected', () => {
  expect(() => readImages({ POSTGRES_IMAGE: 'postgres' })).toThrow(
    'POSTGRES_IMAGE is "postgres": expected an image and its tag',
  );
});
