import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { rename, type Words } from '../../framework/create/src/words.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { readWords } from './words.ts';

const HELP = `Usage: make service NAME=orders [SINGULAR=order]

Adds a service from the template of create-fw: services/NAME with one version of its API, SQLite and
PostgreSQL, and the chart deploy/charts/NAME. NAME is the plural that paths and tables contain, SINGULAR the
name of one resource (default: NAME without its final "s"). Nothing is written if a value is invalid.`;

const root = path.resolve(import.meta.dirname, '../..');
const TEMPLATE = 'framework/create/template';
const OWN = 'tools/service';

/** The commands that complete the files. */
function stepsOf(name: string): readonly (readonly [title: string, command: string])[] {
  return [
    ['Formatting', `npx biome check --write --log-level=error services/${name}`],
    // Otherwise make would install all packages again, because the lock file changed.
    ['Adding the package', 'npm install --prefer-offline && touch node_modules/.installed'],
    ['Writing the OpenAPI document', 'make --silent documents'],
  ];
}

function main(): number {
  const { values } = parseArgs({
    options: {
      name: { type: 'string', default: '' },
      singular: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const packages = fs.readdirSync(path.join(root, 'framework'));
  const words = readWords(values, [...SERVICE_NAMES, ...packages]);
  const { plural } = words;
  const links = {
    [`deploy/charts/${plural}/charts/common`]: '../../common',
    [`deploy/charts/${plural}/templates/_checks.tpl`]: '../../users/templates/_checks.tpl',
    [`deploy/charts/${plural}/values.schema.json`]: '../common/values.schema.json',
    [`deploy/charts/platform/charts/${plural}`]: `../../${plural}`,
  };
  const files = new Map([...sourcesOf(words), ...chartOf(words)]);
  for (const file of [...files.keys(), ...Object.keys(links)]) {
    if (fs.existsSync(path.join(root, file))) {
      throw new Error(`NAME is "${plural}": expected that ${file} does not exist`);
    }
  }
  const changed = entriesOf(words);

  for (const [file, text] of [...files, ...changed]) {
    console.log(`${changed.has(file) ? 'Changed' : 'Created'} ${file}`);
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  for (const [link, target] of Object.entries(links)) {
    console.log(`Created ${link}`);
    fs.mkdirSync(path.dirname(path.join(root, link)), { recursive: true });
    fs.symlinkSync(target, path.join(root, link));
  }
  return complete(plural);
}

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8');
}

/** The folder of the service: the sources of the template, without the files of a project of its own. */
function sourcesOf(words: Words): Map<string, string> {
  const target = `services/${words.plural}`;
  const { dependencies } = JSON.parse(read(`${TEMPLATE}/package.json`));
  const manifest = {
    name: `@fw/${words.plural}`,
    ...{ version: '0.1.0', private: true, license: 'MIT', type: 'module' },
    scripts: { start: 'node dist/main.js' },
    dependencies,
  };
  const sources = fs.globSync('src/**/*.ts', { cwd: path.join(root, TEMPLATE) }).map((file) => {
    const text = read(`${TEMPLATE}/${file}`).replace("file: 'data/", "file: '.local/");
    return [`${target}/${rename(file, words)}`, rename(text, words)] as const;
  });
  return new Map([
    [`${target}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`],
    [`${target}/README.md`, rename(read(`${OWN}/README-service.md`), words)],
    [`${target}/journey.ts`, rename(read(`${OWN}/journey.template`), words)],
    [`${target}/src/documents.test.ts`, rename(read(`${OWN}/documents.test.template`), words)],
    ...sources,
  ]);
}

/** The chart; its templates are those of another service with a database. */
function chartOf(words: Words): Map<string, string> {
  const target = `deploy/charts/${words.plural}`;
  const filesOf = (folder: string, pattern: string) =>
    fs.globSync(pattern, { cwd: path.join(root, folder) }).map((file) => {
      return [`${target}/${file}`, rename(read(`${folder}/${file}`), words)] as const;
    });
  return new Map([
    ...filesOf(`${OWN}/chart`, '**/*.*'),
    ...filesOf('deploy/charts/catalog', 'templates/*.{yaml,txt}'),
  ]);
}

/** The existing files that list the services, with the new one. */
function entriesOf(words: Words): Map<string, string> {
  const { plural } = words;
  const list = 'services/services.ts';
  const chart = 'deploy/charts/platform/Chart.yaml';
  const values = 'deploy/charts/platform/values.yaml';
  const production = 'deploy/charts/platform/values-production.yaml';
  const trial = 'deploy/charts/trial/values.yaml';
  const compose = 'compose.yaml';
  const entry = `  {
    name: '${plural}',
    replicas: 2,
    versions: ['v1'],
    store: 'database',
    authenticated: false,
    loadShare: 10,
    calls: [],
  },
`;
  const dependency = `  - name: ${plural}\n    version: 0.1.0\n    condition: ${plural}.enabled\n`;
  const valuesOf = (file: string) => rename(read(`${OWN}/${file}`), words);
  return new Map([
    [list, insert(list, { before: '] as const satisfies readonly ServiceDescription[];', entry })],
    // The last key of this file is the list of charts.
    [chart, read(chart) + dependency],
    [values, insert(values, { before: '# Values of the edge', entry: valuesOf('values.yaml') })],
    [production, read(production) + valuesOf('values-production.yaml')],
    // The end of the list of services with a database.
    [trial, insert(trial, { before: ']', after: '\n  databases: [', entry: `, ${plural}` })],
    [
      compose,
      insert(
        compose,
        { before: ' }', after: 'SERVICES:', entry: ` ${plural}` },
        {
          ...{ before: '    deploy:', after: 'restart: true }\n' },
          entry: `      ${plural}: { condition: service_healthy, restart: true }\n`,
        },
        { before: '  postgres:\n', entry: valuesOf('compose.yaml') },
        {
          before: '      - postgres-secrets:/secrets/',
          entry: `      - ${plural}-secrets:/secrets/databases/${plural}\n`,
        },
        { before: 'postgres-secrets: ,', entry: `${plural}-secrets: , ` },
      ),
    ],
  ]);
}

interface Insertion {
  readonly entry: string;
  readonly before: string;
  /** `before` is the first one after this text. */
  readonly after?: string;
}

/** The text of a file with each `entry`. @throws {Error} if the file does not contain a place */
function insert(file: string, ...insertions: readonly Insertion[]): string {
  return insertions.reduce((text, { entry, before, after = '' }) => {
    const from = text.indexOf(after);
    const place = from < 0 ? -1 : text.indexOf(before, from + after.length);
    if (place < 0) throw new Error(`Cannot change ${file}: expected "${after}" and "${before}"`);
    return text.slice(0, place) + entry + text.slice(place);
  }, read(file));
}

/** Runs the steps; prints what to do next. */
function complete(name: string): number {
  const steps = stepsOf(name);
  for (const [index, [title, command]] of steps.entries()) {
    console.log(`${title}: ${command}`);
    const options = { cwd: root, shell: true, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(command, options);
    if (status === 0) continue;
    const rest = steps.slice(index).map((step) => step[1]);
    process.stderr.write(`${stdout}${stderr}`);
    console.error(`Cannot complete the service: correct the error, then run ${rest.join(' && ')}`);
    return 1;
  }
  console.log(`
The service ${name} is complete. How to make it your own: docs/your-own-service.md

  make up                 # also starts ${name}
  make images             # builds its image, too`);
  return 0;
}

try {
  process.exitCode = main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
