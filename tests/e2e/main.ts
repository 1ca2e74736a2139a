import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { createCluster } from '../../deploy/local/cluster/cluster.ts';
import { packCharts } from '../../deploy/local/cluster/pack-charts.ts';
import { ignoreClosedOutput } from '../../deploy/local/output.ts';
import { runScenarios } from './run.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { readSettings } from './settings.ts';

/** The scenarios of these names, in the order that they are usually tried in. */
function chosen(names: readonly string[]): readonly Scenario[] {
  const known = SCENARIOS.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    throw new Error(`Cannot try "${name}": expected ${known.join(', ')}`);
  }
  return SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Asks once, so that nobody waits for a scenario to find out that there is no cluster. */
async function requireCluster(): Promise<void> {
  const cluster = createCluster(AbortSignal.timeout(30_000));
  try {
    await cluster.kubectl(['get', '--raw', '/readyz']);
  } catch (error) {
    throw new Error(`Cannot reach a cluster: ${reasonOf(error)}; set KUBECONFIG to name one`, {
      cause: error,
    });
  }
  const may = async (verb: string, what: string) => {
    const answer = await cluster
      .kubectl(['auth', 'can-i', verb, what, '--all-namespaces'])
      .catch(() => 'no');
    return answer.trim() === 'yes';
  };
  for (const what of ['namespaces', 'deployments.apps', 'secrets', 'networkpolicies']) {
    if (!(await may('create', what))) {
      throw new Error(`Cannot begin: who KUBECONFIG names may not create ${what}`);
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer within 30 s';
  return error.message.split('\n').at(-1) ?? '';
}

/** Interrupts the run once; who asks twice does not want to wait for what is taken back. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(130);
    console.log('Interrupted: removing what was made (again: leave it there)');
    controller.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  return controller.signal;
}

/** `node main.ts [--only NAME]… [--list]` tries the charts on the cluster that `KUBECONFIG` names. */
if (import.meta.main) {
  ignoreClosedOutput();
  let charts: string | undefined;
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        list: { type: 'boolean', default: false },
      },
    });
    const scenarios = chosen(values.only.flatMap((names) => names.split(',')));
    if (values.list) {
      for (const { name, title } of scenarios) console.log(`${name.padEnd(22)} ${title}`);
    } else {
      const settings = readSettings(process.env);
      await requireCluster();
      charts = packCharts();
      const until = untilInterrupted();
      const say = (line: string) => console.log(line);
      const { passed, failed } = await runScenarios(scenarios, { settings, charts, until, say });
      console.log(`${passed} passed, ${failed} failed`);
      process.exitCode = until.aborted ? 130 : failed === 0 ? 0 : 1;
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  } finally {
    if (charts) fs.rmSync(charts, { recursive: true, force: true });
  }
}
