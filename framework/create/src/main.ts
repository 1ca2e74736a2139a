#!/usr/bin/env node
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { createService } from './create-service.ts';
import { findPackages } from './packages.ts';
import { readResource } from './words.ts';

const HELP = `Usage: create-fw FOLDER [--resource WORD] [--chart] [--packages FOLDER]

Writes a new service into FOLDER, which is its name too: a complete API with tests and an image.

  --resource WORD    what the API is about, such as ticket; another plural than with "s": person/people
                     (default: task)
  --chart            also writes deploy/values.yaml, to install the service with the chart common
  --packages FOLDER  the packed packages of fw (default: those of the registry that create-fw is from,
                     or next to its tarball)
  --version          prints the version
  --help             prints this text`;

/** The oldest version that runs the TypeScript of a service. */
const NODE_MAJOR = 24;

try {
  requireNode();
  run();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

function requireNode(): void {
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR) {
    throw new Error(
      `create-fw needs Node ${NODE_MAJOR} or later, got ${process.versions.node}: https://nodejs.org/en/download`,
    );
  }
}

function run(): void {
  const { values, positionals } = readArguments();
  if (values.help) console.log(HELP);
  else if (values.version) console.log(readVersion());
  else create(positionals, values);
}

function create(
  [folder, ...rest]: readonly string[],
  { packages, resource, chart = false }: ReturnType<typeof readArguments>['values'],
): void {
  if (folder === undefined) throw new Error('Expected a folder, as in "create-fw my-service"');
  if (rest.length > 0) throw new Error(`Expected one folder, got "${rest[0]}" too`);
  const words = resource === undefined ? {} : { resource: readResource(resource) };
  const source = packages === undefined ? findPackages() : { packages };
  const files = createService(folder, source, { ...words, chart });
  console.log(`Created ${folder}:\n${files.map((file) => `  ${file}\n`).join('')}`);
  console.log(`Next:\n  cd ${folder}\n  npm install\n  npm run dev`);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        resource: { type: 'string' },
        chart: { type: 'boolean' },
        packages: { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\. |\n/);
    throw new Error(`${sentence}; see create-fw --help`, { cause: error });
  }
}

function readVersion(): string {
  const manifest = path.join(import.meta.dirname, '../package.json');
  return JSON.parse(fs.readFileSync(manifest, 'utf8')).version;
}
