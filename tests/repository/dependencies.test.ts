import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

const framework = path.resolve(import.meta.dirname, '../../framework');

// biome.json contains the other rules about imports: what each folder may import, and no cycles.
test.each(
  fs
    .globSync('*/package.json', { cwd: framework })
    .map((file) => path.dirname(file))
    .filter((name) => name !== 'service' && name !== 'examples'),
)('@fw/%s has no dependency outside this repository', (name) => {
  const file = path.join(framework, name, 'package.json');
  const { dependencies = {} } = JSON.parse(fs.readFileSync(file, 'utf8'));

  expect(Object.keys(dependencies).filter((one) => !/^(?:fw$|@fw\/)/.test(one))).toEqual([]);
});
