import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { dashboardOf } from './dashboard.ts';

/** Ids of Grafana: https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts. */
const UNITS = ['reqps', 'percentunit', 's', 'short', 'bytes'];

test.each(SERVICE_NAMES)('the dashboard of %s meets the rules of Grafana', (service) => {
  const { panels, templating, annotations } = dashboardOf(service);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  const [variable] = templating.list;
  const source = { type: variable?.query, uid: `$${variable?.name}` };

  expect(new Set(panels.map(({ id }) => id)).size, 'ids are unique').toBe(panels.length);
  expect(new Set(panels.map(({ title }) => title)).size, 'titles are unique').toBe(panels.length);
  expect(new Set(cells).size, 'panels do not overlap').toBe(cells.length);
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  for (const { title, datasource, fieldConfig, targets } of panels) {
    expect(datasource).toEqual(source);
    expect(UNITS, title).toContain(fieldConfig.defaults.unit);
    expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    for (const target of targets) expect(target.datasource).toEqual(source);
  }
  for (const annotation of annotations.list) expect(annotation.datasource).toEqual(source);
});
