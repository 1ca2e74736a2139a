import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { planFiles, planLinks, readPorts } from './files.ts';
import { readPort, readWords } from './names.ts';

const HELP = `Usage: make service NAME=orders [SINGULAR=order] [PORT=8084]

Adds a service: a copy of users with other words. NAME is the plural that paths and tables contain, SINGULAR
the name of one resource (default: NAME without its final "s"), PORT the default port (default: the next
free one). Nothing is written if a value is invalid.`;

/** The commands that complete the files. */
function stepsOf(name: string): readonly (readonly [title: string, command: string])[] {
  const sources = `services/${name} services/services.ts tests/api`;
  return [
    ['Formatting', `npx biome check --write --log-level=error ${sources}`],
    // Otherwise make would install all packages again, because the lock file changed.
    ['Adding the package', 'npm install --prefer-offline && touch node_modules/.installed'],
    ['Writing the OpenAPI documents', 'make --silent documents'],
  ];
}

const root = path.resolve(import.meta.dirname, '../..');

function main(): number {
  const { values } = parseArgs({
    options: {
      name: { type: 'string', default: '' },
      singular: { type: 'string', default: '' },
      port: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const packages = fs.readdirSync(path.join(root, 'framework'));
  const words = readWords(values, [...SERVICE_NAMES, ...packages]);
  const port = readPort(values.port, readPorts(root));
  const files = planFiles(root, { ...words, port });
  const links = planLinks(root, words);

  for (const [file, text] of files) {
    const target = path.join(root, file);
    console.log(`${fs.existsSync(target) ? 'Changed' : 'Created'} ${file}`);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, text);
  }
  for (const [link, target] of links) {
    console.log(`Created ${link}`);
    fs.mkdirSync(path.dirname(path.join(root, link)), { recursive: true });
    fs.symlinkSync(target, path.join(root, link));
  }
  return complete(words.plural);
}

/** Runs the steps; prints what to do next. */
function complete(name: string): number {
  const steps = stepsOf(name);
  for (const [index, [title, command]] of steps.entries()) {
    console.log(`${title}: ${command}`);
    const { status, stdout, stderr } = spawnSync(command, {
      cwd: root,
      shell: true,
      encoding: 'utf8',
    });
    if (status !== 0) {
      const rest = steps.slice(index).map((step) => step[1]);
      process.stderr.write(`${stdout}${stderr}`);
      console.error(
        `Cannot complete the service: correct the error, then run ${rest.join(' && ')}`,
      );
      return 1;
    }
  }
  console.log(`
The service ${name} works like users. How to make it your own: docs/your-own-service.md

  make check test         # types, lint and all tests
  make up smoke load      # start the system, test it and send load
  make images             # build its image, too`);
  return 0;
}

if (import.meta.main) {
  try {
    process.exitCode = main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
