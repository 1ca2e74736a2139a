import fs from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { SERVICES } from '../../../services/services.ts';
import { CHARTS } from '../folder.ts';
import { charts, NEEDED, only, type Rendered } from './render.ts';

const readYaml = (file: string) => parse(fs.readFileSync(path.join(CHARTS, file), 'utf8'));
const readText = (file: string) => fs.readFileSync(path.join(CHARTS, file), 'utf8');

describe.each(SERVICES)(
  'the service $name of services/services.ts',
  ({ name, versions, calls }) => {
    test('has a chart', () => {
      expect(
        fs.existsSync(path.join(CHARTS, name, 'Chart.yaml')),
        `add deploy/charts/${name}`,
      ).toBe(true);
    });

    test('is tested by the platform', () => {
      const program = readText('platform/files/test.js');

      expect(program, `add a function "${name}" to platform/files/test.js`).toContain(
        `async ${name}()`,
      );
    });

    test('is reached below each of its versions', () => {
      const ingress = { enabled: true, hosts: [{ host: 'api.example.org' }] };
      const objects = charts.render(name, { ...NEEDED[name], ingress });
      const paths = only(objects, 'Ingress').spec.rules[0].http.paths.map(
        (one: Rendered) => one.path,
      );

      expect(paths, 'change "common.paths" in common/templates/_names.tpl').toEqual([
        ...versions.map((version) => `/api/${version}/${name}`),
        `/docs/${name}`,
      ]);
    });

    test('has the address of each service that it calls as a value', () => {
      const { upstreams = {} } = readYaml(`${name}/values.yaml`);

      expect(Object.keys(upstreams), 'change "upstreams" in values/service.yaml').toEqual(calls);
    });
  },
);
