import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type Findings, readReport } from './report.ts';

export interface Target {
  /** The Python of the environment that contains schemathesis. */
  readonly python: string;
  /** The origin of the requests. */
  readonly origin: string;
  /** The path of the OpenAPI document. */
  readonly document: string;
  /** The bearer token for operations that need one. */
  readonly token?: string;
  /** Upper bound of the generated cases per operation and phase. */
  readonly maxExamples: number;
}

/**
 * Runs schemathesis with all checks and all phases. The seed is fixed and nothing is kept between
 * runs, so that two runs send the same requests, apart from ids that the services create.
 *
 * @throws {Error} with the output of schemathesis if it does not complete
 */
export async function runSchemathesis(target: Target): Promise<Findings> {
  const { python, origin, document, maxExamples } = target;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'schemathesis-'));
  try {
    const config = path.join(folder, 'schemathesis.toml');
    const report = path.join(folder, 'report.ndjson');
    fs.writeFileSync(config, configOf(target));
    const { status, output } = await run(
      python,
      [
        ...['-m', 'schemathesis.cli', '--config-file', config, 'run', `${origin}${document}`],
        ...['--url', origin, '--checks', 'all', '--max-examples', String(maxExamples)],
        ...['--continue-on-failure', '--no-shrink', '--report-ndjson-path', report],
      ],
      folder,
    );
    // 1 means that checks failed, which the report describes.
    if ((status !== 0 && status !== 1) || !fs.existsSync(report)) {
      throw new Error(`schemathesis exited with code ${status}:\n${output}`);
    }
    return await readReport(report);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The high time-out allows for busy machines; these tests do not check response times. */
function configOf({ token }: Target): string {
  const auth = token === undefined ? '' : `[auth.openapi.bearer]\nbearer = "${token}"\n`;
  return `color = false
seed = 1
request-timeout = 120
suppress-health-check = ["all"]
[cache]
enabled = false
[generation]
database = "none"
[output.sanitization]
enabled = false
${auth}`;
}

async function run(program: string, args: readonly string[], cwd: string) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [status] = await once(child, 'close');
  return { status: status as number | null, output };
}
