import fs from 'node:fs';
import path from 'node:path';

import type { AnyVariables } from '@fw/service';
import { stringify } from 'yaml';

import { VARIABLES as CATALOG } from '../../services/catalog/src/config.ts';
import { VARIABLES as REPORTS } from '../../services/reports/src/config.ts';
import { SERVICES, type ServiceName } from '../../services/services.ts';
import { VARIABLES as USERS } from '../../services/users/src/config.ts';
import { CHARTS } from './dependencies.ts';
import { dashboardOf } from './monitoring/dashboard.ts';
import { rulesOf } from './monitoring/rules.ts';
import { schemaOf } from './schema.ts';
import { type ChartValue, readSource, valuesOf, withVariables } from './source.ts';

/** The configuration of each service. */
export const VARIABLES: Readonly<Record<ServiceName, AnyVariables>> = {
  users: USERS,
  catalog: CATALOG,
  reports: REPORTS,
};

/** What pods of a service share if there are several, by its kind of store. */
const SHARED_STORE = { database: '`store.type` postgres', counters: '`rateLimit.store` redis' };

/** Variables that the templates set from other values, or that have one value in a pod. */
const SET_BY_TEMPLATES = [
  ...['PORT', 'HEALTH_PORT', 'LOG_FORMAT', 'SERVICE_VERSION', 'DRAIN_TIMEOUT_MS'],
  ...['DATABASE_FILE', 'DATABASE_URL', 'DATA_FILE'],
  ...['JWT_SECRET', 'JWT_JWKS_URL', 'JWT_ALGORITHM', 'JWT_ISSUER', 'JWT_AUDIENCE'],
  ...['REDIS_URL', 'USERS_URL', 'CATALOG_URL'],
];

/** Keys that Helm and a parent chart add. */
const ADDED: readonly ChartValue[] = [
  { path: ['service', 'global'], default: {}, description: 'Added by Helm for the library chart.' },
  { path: ['global'], default: {}, description: 'Values that the parent chart shares.' },
  { path: ['enabled'], default: true, description: 'Whether the parent chart installs this one.' },
];

/** The generated files of all charts, by their path in the folder of the charts. */
export function generatedFiles(): Record<string, string> {
  const services = SERVICES.map(({ name, store, authenticated, calls }) => {
    const traits = [store, authenticated && 'authenticated', calls.length > 0 && 'calls'];
    const words = { chart: name, sharedStore: SHARED_STORE[store] };
    const source = readSource(
      'service',
      words,
      traits.filter((trait) => trait !== false),
    );
    const variables = Object.entries(VARIABLES[name]).filter(
      ([variable]) => !SET_BY_TEMPLATES.includes(variable),
    );
    return {
      ...filesOf(name, withVariables(source, Object.fromEntries(variables)), ADDED),
      ...monitoringFilesOf(name),
    };
  });
  const platform = filesOf('platform', readSource('platform'), ADDED.slice(0, 1));
  return Object.assign({}, ...services, platform);
}

/** The alerts and the dashboard of a service. */
function monitoringFilesOf(name: ServiceName) {
  const header = '# Generated from deploy/slo.ts by "make charts".\n';
  return {
    [path.join(name, 'files/alerts.yaml')]: header + stringify(rulesOf(name), { lineWidth: 0 }),
    [path.join(name, 'files/dashboard.json')]: `${JSON.stringify(dashboardOf(name), null, 2)}\n`,
  };
}

/** The files of one chart; its schema also accepts the values `added`. */
function filesOf(chart: string, source: string, added: readonly ChartValue[]) {
  const values = valuesOf(source);
  const readme = path.join(chart, 'README.md');
  const schema = schemaOf(`Values of the chart ${chart}`, [...values, ...added]);
  const header = '# Generated from deploy/charts/values by "make charts".\n\n';
  return {
    [path.join(chart, 'values.yaml')]: header + source.replace(/^ *# @schema .*\n/gm, ''),
    [path.join(chart, 'values.schema.json')]: `${JSON.stringify(schema, null, 2)}\n`,
    [readme]: withTable(fs.readFileSync(path.join(CHARTS, readme), 'utf8'), values),
  };
}

const TABLE = /(<!-- values -->\n).*(<!-- \/values -->)/s;

/** The README with the table of `values` between its two marks. */
function withTable(readme: string, values: readonly ChartValue[]): string {
  if (!TABLE.test(readme)) throw new Error('Cannot write the table of values: expected its marks');
  const rows = values.map(({ path: keys, default: fallback, description }) => {
    const json = JSON.stringify(fallback);
    const shown = json.length > 100 ? 'see `values.yaml`' : `\`${json}\``;
    return [`\`${keys.join('.')}\``, shown, description]
      .map((cell) => `| ${cell.replaceAll('|', '\\|')} `)
      .join('')
      .concat('|');
  });
  const table = ['| Key | Default | Description |', '|---|---|---|', ...rows].join('\n');
  return readme.replace(TABLE, (_, before: string, after: string) => `${before}${table}\n${after}`);
}

if (import.meta.main) {
  try {
    for (const [file, text] of Object.entries(generatedFiles())) {
      fs.writeFileSync(path.join(CHARTS, file), text);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
