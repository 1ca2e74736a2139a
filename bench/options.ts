import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** The options of every program. */
const COMMON = {
  help: { type: 'boolean', default: false },
  out: { type: 'string' },
} as const satisfies Options;

/**
 * Reads the options of a program, and `--out`. With `--help`, prints `help` and returns `undefined`.
 *
 * @throws {TypeError} that names an unknown option or one without a value
 */
export function readOptions<T extends Options>(args: readonly string[], help: string, options: T) {
  const { values } = parseArgs({ args: [...args], options: { ...COMMON, ...options } });
  if (!('help' in values && values.help)) return values;
  process.stdout.write(help);
  return undefined;
}

/**
 * Reads comma-separated names, each of which must be in `known`. Default: all of `known`.
 *
 * @throws {RangeError} that names the unknown name
 */
export function readNames<T extends string>(text: string | undefined, known: readonly T[]): T[] {
  if (text === undefined) return [...known];
  return text.split(',').map((name) => {
    const found = known.find((candidate) => candidate === name);
    if (!found) throw new RangeError(`Cannot find "${name}": expected one of ${known.join(', ')}`);
    return found;
  });
}

/**
 * Reads the value of an option as a positive whole number.
 *
 * @throws {RangeError} that names the option
 */
export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`Cannot read --${option} "${text}": expected a positive whole number`);
  }
  return count;
}

/** Runs `main` and exits. An error is printed as one line; the exit code is then 1. */
export async function runAsProgram(main: (args: string[]) => Promise<void>): Promise<void> {
  try {
    await main(process.argv.slice(2));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
