import fs from 'node:fs';
import path from 'node:path';

import { SHARED_FILES, withEntries } from './entries.ts';
import type { ServiceWords } from './names.ts';
import { rename, TEMPLATE } from './rename.ts';

/** The files of users that a new service copies. */
const TEMPLATE_FILES = [
  'services/users/{README.md,package.json,journey.ts,openapi/*,src/**/*.ts}',
  'deploy/charts/users/{Chart.yaml,README.md,values.yaml,files/*,templates/*}',
  'tests/api/{v1,v2}/users.test.ts',
];

/** The links of users between the charts: to their dependencies, and to the schema of the values. */
const TEMPLATE_LINKS = [
  'deploy/charts/users/charts/common',
  'deploy/charts/users/values.schema.json',
  'deploy/charts/platform/charts/users',
];

const CONFIG = 'src/config.ts';
const PORT = /serviceVariables\(\{ port: (\d+) \}\)/;
/** The number that marks an SQLite file as that of a service: "fw" and two letters of its name. */
const APPLICATION_ID = /0x6677([0-9a-f]{4}), \/\/ "fw[a-z]{2}"/;

export interface NewService extends ServiceWords {
  readonly port: number;
}

/** The default ports of the services in `root`, and those of the edge and of health checks. */
export function readPorts(root: string): Map<number, string> {
  const ports = fs.globSync(`services/*/${CONFIG}`, { cwd: root }).map((file) => {
    const [, port] = PORT.exec(fs.readFileSync(path.join(root, file), 'utf8')) ?? [];
    return [Number(port), file.split(path.sep)[1] ?? ''] as const;
  });
  return new Map([...ports, [8080, 'the edge'], [9090, 'health and metrics']]);
}

/**
 * The text of every file to write, by its path in `root`. Writes nothing.
 *
 * @throws {Error} naming a file, if it exists, or has no entry to copy
 */
export function planFiles(root: string, service: NewService): Map<string, string> {
  const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');
  const planned = new Map<string, string>();
  const id = applicationIdOf(root, service.plural);
  for (const template of fs.globSync(TEMPLATE_FILES, { cwd: root }).sort()) {
    const file = rename(template, service);
    if (fs.existsSync(path.join(root, file))) {
      throw new Error(`NAME is "${service.plural}": expected that ${file} does not exist`);
    }
    const text = rename(read(template), service).replace(APPLICATION_ID, id);
    const [, port = ''] = PORT.exec(read(`services/${TEMPLATE.plural}/${CONFIG}`)) ?? [];
    planned.set(file, text.replaceAll(port, String(service.port)));
  }
  for (const shared of SHARED_FILES) {
    const text = planned.get(shared.file) ?? read(shared.file);
    planned.set(shared.file, withEntries(text, shared, service));
  }
  return planned;
}

/** The target of every symbolic link to create, by its path in `root`. */
export function planLinks(root: string, service: ServiceWords): Map<string, string> {
  const links = TEMPLATE_LINKS.map((link) => {
    const target = fs.readlinkSync(path.join(root, link));
    return [rename(link, service), rename(target, service)] as const;
  });
  return new Map(links);
}

/** A mark that no SQLite file of another service has, in the form of `APPLICATION_ID`. */
function applicationIdOf(root: string, name: string): string {
  const stores = fs.globSync('services/*/src/store/*.ts', { cwd: root });
  const texts = stores.map((file) => fs.readFileSync(path.join(root, file), 'utf8')).join('');
  const marks = [...name.slice(1)].map((letter) => `fw${name[0]}${letter}`);
  const mark = marks.find((one) => !texts.includes(`"${one}"`));
  if (mark === undefined) {
    throw new Error(`NAME is "${name}": all of ${marks.join(', ')} mark files of other services`);
  }
  return `0x${Buffer.from(mark).toString('hex')}, // "${mark}"`;
}
