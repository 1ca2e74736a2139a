import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** What every program takes. */
const COMMON = {
  help: { type: 'boolean', default: false },
  out: { type: 'string' },
} as const satisfies Options;

/**
 * Reads the options of a program, `--out` among them; prints `help` and gives nothing if that is asked
 * for.
 *
 * @throws {TypeError} naming an option that is not known or has no value
 */
export function readOptions<T extends Options>(args: readonly string[], help: string, options: T) {
  const { values } = parseArgs({ args: [...args], options: { ...COMMON, ...options } });
  if (!('help' in values && values.help)) return values;
  process.stdout.write(help);
  return undefined;
}

/**
 * Reads names separated by commas, each of which must be one of `known`; nothing means all of them.
 *
 * @throws {RangeError} naming the one that is not known
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
 * Reads the whole number that an option gives, from 1 on.
 *
 * @throws {RangeError} naming the option
 */
export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`Cannot read --${option} "${text}": expected a whole number from 1 on`);
  }
  return count;
}

/** Runs `main` and ends the process; an error becomes one line, and exit code 1. */
export async function runAsProgram(main: (args: string[]) => Promise<void>): Promise<void> {
  try {
    await main(process.argv.slice(2));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
