import type { Logger } from 'fw';

import type { AnyVariables } from '../config/config.ts';
import { printTable } from '../config/print-table.ts';
import { printVariables } from '../config/print-variables.ts';

/** What a command is given besides its configuration and arguments. */
export interface CommandTools {
  readonly logger: Logger;
  /** Aborts on SIGINT and SIGTERM; a second one ends the process at once. */
  readonly signal: AbortSignal;
}

/** Something that a service's program can do besides serving. */
export interface Command<Config> {
  /** Half a sentence for `--help`. */
  readonly summary: string;
  /** The arguments, as `--help` shows them: `FILE [--strict]`. */
  readonly usage?: string;
  /** Resolves with the exit code; with nothing, that is 0. */
  run(config: Config, args: readonly string[], tools: CommandTools): Promise<number | undefined>;
}

/** What a program's command line asks for. */
export type Request =
  | { readonly kind: 'serve' }
  | { readonly kind: 'command'; readonly name: string; readonly args: readonly string[] }
  /** Something to print, and be done. */
  | { readonly kind: 'print'; readonly text: string };

export interface Program {
  readonly name: string;
  readonly summary: string;
  readonly variables: AnyVariables;
  readonly commands: Readonly<Record<string, Pick<Command<never>, 'summary' | 'usage'>>>;
}

/** A command line that asks for nothing there is; exit code 2 says so to a script. */
export class UsageError extends Error {}

/**
 * Reads what the arguments of a service's program ask for; no argument asks to serve.
 *
 * @throws {UsageError} if there is no such command
 */
export function readCommandLine(program: Program, args: readonly string[]): Request {
  const [command = 'serve', ...rest] = args;
  if (command === '--help' || command === '-h' || command === 'help') {
    return { kind: 'print', text: helpOf(program) };
  }
  if (Object.hasOwn(program.commands, command)) {
    if (rest.includes('--help')) return { kind: 'print', text: helpOf(program) };
    return { kind: 'command', name: command, args: rest };
  }
  if (command === 'config' && rest.every((argument) => argument === '--json')) {
    return { kind: 'print', text: printVariables(program.variables, { isJson: rest.length > 0 }) };
  }
  if (command === 'serve' && rest.length === 0) return { kind: 'serve' };
  const wrong = JSON.stringify(args.join(' ').slice(0, 60));
  throw new UsageError(`Cannot run ${program.name}: ${wrong} is no command; --help lists them`);
}

function helpOf({ name, summary, commands }: Program): string {
  const lines = [
    ['serve', 'serves until SIGTERM; what happens without a command'],
    ...Object.entries(commands).map(([command, { usage = '', summary: what }]) => [
      `${command} ${usage}`.trim(),
      what,
    ]),
    ['config [--json]', 'prints every variable of the environment that is read'],
    ['--help', 'prints this'],
  ];
  return `${name}: ${summary}\n\nUsage: node main.js [command]\n\n${printTable(lines, '  ')}`;
}
