import type { Logger } from 'fw';

import {
  type AnyVariables,
  describeVariables,
  type VariableDescription,
} from '../config/variables.ts';

/** What a command receives in addition to its configuration and arguments. */
export interface CommandTools {
  readonly logger: Logger;
  /** Aborts on SIGINT and SIGTERM; a second signal ends the process immediately. */
  readonly signal: AbortSignal;
}

/** A command of a service's program, in addition to serving requests. */
export interface Command<Config> {
  /** One line for `--help`, such as `imports items from a file`. */
  readonly summary: string;
  /** The arguments as `--help` shows them, such as `FILE [--strict]`. */
  readonly usage?: string;
  /** Resolves with the exit code; `undefined` means 0. */
  run(config: Config, args: readonly string[], tools: CommandTools): Promise<number | undefined>;
}

/** What the command line requests. */
export type Request =
  | { readonly kind: 'serve' }
  | { readonly kind: 'command'; readonly name: string; readonly args: readonly string[] }
  /** The program prints `text` and exits. */
  | { readonly kind: 'print'; readonly text: string };

export interface Program {
  readonly name: string;
  readonly summary: string;
  readonly variables: AnyVariables;
  readonly commands: Readonly<Record<string, Pick<Command<never>, 'summary' | 'usage'>>>;
}

/** The commands of every service. */
export const OWN_COMMANDS = ['serve', 'config', 'migrate', 'help'];

/** An unknown command or invalid arguments: the process prints only the message, and exits with code 2. */
export class UsageError extends Error {}

/**
 * Reads the arguments of a service's program; without arguments it serves requests.
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
    return { kind: 'print', text: variablesOf(program, { isJson: rest.length > 0 }) };
  }
  if (command === 'serve' && rest.length === 0) return { kind: 'serve' };
  const wrong = JSON.stringify(args.join(' ').slice(0, 60));
  throw new UsageError(`Cannot run ${program.name}: ${wrong} is not a command; --help lists them`);
}

function helpOf({ name, summary, commands }: Program): string {
  const lines = [
    ['serve', 'serves requests until SIGTERM; the default command'],
    ...Object.entries(commands).map(([command, { usage = '', summary: what }]) => [
      `${command} ${usage}`.trim(),
      what,
    ]),
    ['config [--json]', 'prints every environment variable of the service'],
    ['--help', 'prints this text'],
  ];
  return `${name}: ${summary}\n\nUsage: node main.js [command]\n\n${formatTable(lines, '  ')}`;
}

function variablesOf({ variables }: Program, { isJson }: { readonly isJson: boolean }): string {
  const descriptions = describeVariables(variables);
  if (isJson) return `${JSON.stringify(descriptions, null, 2)}\n`;
  return formatTable([['VARIABLE', 'DEFAULT', 'MEANING'], ...descriptions.map(cellsOf)]);
}

/** The cells of a table row: name, default with its unit, meaning. */
function cellsOf(description: VariableDescription): [string, string, string] {
  const { name, unit, secret, meaning } = description;
  const value = [description.default ?? 'none', unit].filter(Boolean).join(' ');
  return [name, value, secret ? `${meaning} (secret; or ${name}_FILE)` : meaning];
}

/** Writes rows as lines, each column as wide as its widest cell. */
function formatTable(rows: readonly (readonly string[])[], indent = ''): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widthOf(column) + 2)));
  return lines.map((cells) => `${(indent + cells.join('')).trimEnd()}\n`).join('');
}
