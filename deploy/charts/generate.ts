import fs from 'node:fs';
import path from 'node:path';

import type { AnyVariables } from '@fw/service';
import { describeVariables } from '@fw/service';

import { VARIABLES as CATALOG } from '../../services/catalog/src/config.ts';
import { VARIABLES as REPORTS } from '../../services/reports/src/config.ts';
import { VARIABLES as USERS } from '../../services/users/src/config.ts';
import { platformFiles } from './platform.ts';
import { LIMITS_REFUSALS, SERVICE_RULES, STORE_REFUSALS } from './rules.ts';
import {
  integer,
  oneOf,
  type Refusal,
  type Schema,
  saying,
  schemaOf,
  tellingNames,
  toJson,
} from './schema.ts';
import { readValues, withTable } from './values.ts';

/** What the chart of a service is made for. */
interface ServiceChart {
  readonly variables: AnyVariables;
  readonly refusals: readonly Refusal[];
}

const SERVICES: Readonly<Record<string, ServiceChart>> = {
  users: { variables: USERS, refusals: STORE_REFUSALS },
  catalog: { variables: CATALOG, refusals: STORE_REFUSALS },
  reports: { variables: REPORTS, refusals: LIMITS_REFUSALS },
};

/** Variables that the templates set: by other values, or because a container leaves no choice. */
const SET_BY_TEMPLATES = [
  ...['PORT', 'HEALTH_PORT', 'LOG_FORMAT', 'DRAIN_TIMEOUT_MS'],
  ...['DATABASE_FILE', 'DATABASE_URL', 'DATA_FILE'],
  ...['JWT_SECRET', 'JWT_JWKS_URL', 'JWT_ALGORITHM', 'JWT_ISSUER', 'JWT_AUDIENCE'],
  ...['REDIS_URL', 'USERS_URL', 'CATALOG_URL'],
];

/** The files of the charts that are made from others, by their path below `charts`. */
export function generatedFiles(charts: string): Record<string, string> {
  const services = Object.fromEntries(
    Object.entries(SERVICES).flatMap(([name, chart]) => {
      const values = readValues(path.join(charts, name));
      const readme = path.join(name, 'README.md');
      const schema = schemaOf({
        title: `Values of the chart ${name}`,
        values: values.filter(({ path: [top] }) => top !== 'config'),
        rules: SERVICE_RULES,
        refusals: chart.refusals,
      });
      const meaning = values.find(({ path }) => path.join('.') === 'config')?.meaning ?? '';
      const properties = {
        ...(schema.properties as object),
        config: { ...configSchema(chart.variables), description: meaning },
      };
      return [
        [path.join(name, 'values.schema.json'), toJson(tellingNames({ ...schema, properties }))],
        [readme, withTable(fs.readFileSync(path.join(charts, readme), 'utf8'), values)],
      ];
    }),
  );
  return { ...services, ...platformFiles(charts) };
}

/** The variables of a service that its chart lets through, held to what the service itself takes. */
function configSchema(variables: AnyVariables): Schema {
  const properties = describeVariables(variables)
    .filter(({ name }) => !SET_BY_TEMPLATES.includes(name))
    .map(({ name, meaning }) => {
      const complaint = variables[name]?.safeParse('?').error?.issues[0]?.message ?? '';
      return [name, { ...kindOf(name, complaint), description: meaning }];
    });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

/** What a variable takes, by what it says to something that none takes. */
function kindOf(name: string, complaint: string): Schema {
  const [, from, to] = /an integer from (\d+) to (\d+)/.exec(complaint) ?? [];
  if (to !== undefined) {
    // Without an end, there would be no time that a pod could be given to end in.
    const least = name === 'REQUEST_TIMEOUT_MS' ? 1 : Number(from);
    return integer(least, Number(to));
  }
  const [, words] = /one of (.+)$/.exec(complaint) ?? [];
  if (words !== undefined) return oneOf(...words.split(', '));
  const [, form] = /^must be (.+)$/.exec(complaint) ?? [];
  if (!form?.startsWith('a URL')) return { type: 'string' };
  return { type: 'string', if: { pattern: '^(https?://.+)?$' }, else: saying(form) };
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(generatedFiles(import.meta.dirname))) {
    fs.writeFileSync(path.join(import.meta.dirname, file), text);
  }
}
