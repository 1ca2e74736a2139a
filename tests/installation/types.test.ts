import fs from 'node:fs';
import path from 'node:path';

import { describe, inject, test } from 'vitest';

import { compile } from './compile.ts';
import { listEntries, readmeProgram } from './project.ts';
import { VERSIONS } from './runtimes.ts';

const project = inject('project');
const imports = listEntries().map((entry) => `import '${entry}';`);
fs.writeFileSync(path.join(project, 'src/entries.ts'), imports.join('\n'));
fs.writeFileSync(path.join(project, 'src/readme.ts'), readmeProgram());

describe.each(VERSIONS.typescript)(
  'TypeScript %s accepts the programs and all declarations',
  (version) => {
    test.each([
      { title: 'exact optional properties', options: { exactOptionalPropertyTypes: true } },
      { title: 'a bundler', options: { module: 'esnext', moduleResolution: 'bundler' } },
      { title: 'the DOM library', options: { lib: ['es2023', 'dom'] } },
    ])('with $title', async ({ options }) => {
      await compile(project, version, { ...options, outDir: 'out-types' });
    });
  },
);
