import type { ServiceName } from '../../../services/services.ts';
import { SERIES } from './indicators.ts';
import { type Panel, panelsOf } from './panels.ts';

/** The variable of the dashboard that selects the Prometheus server. */
const DATASOURCE = { type: 'prometheus', uid: '$source' };

/** The Grafana dashboard of a service; the templates replace NAMESPACE and SERVICE. */
export function dashboardOf(service: ServiceName) {
  return {
    uid: 'NAMESPACE-SERVICE',
    title: 'SERVICE in NAMESPACE',
    tags: ['fw'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [{ name: 'source', type: 'datasource', query: 'prometheus' }] },
    annotations: { list: [releases()] },
    panels: panelsOf(service).map(layOut),
  };
}

/** Marks the moment at which the first pod of a version starts. */
function releases() {
  const versions = `count by (version) (service_info{${SERIES}}`;
  return {
    name: 'Releases',
    enable: true,
    iconColor: 'blue',
    datasource: DATASOURCE,
    expr: `${versions}) unless ${versions} offset 1m)`,
    step: '60s',
    titleFormat: 'Release',
    textFormat: '{{version}}',
  };
}

/** Two panels per row of the grid, which has 24 columns. */
function layOut({ title, unit, queries }: Panel, index: number) {
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos: { h: 8, w: 12, x: (index % 2) * 12, y: Math.floor(index / 2) * 8 },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: queries.map(({ expr, legend }, number) => ({
      refId: String.fromCharCode(65 + number),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}
