import { parseArgs } from 'node:util';

/** The options of one benchmark. */
export interface Options<Name extends string, Count extends string> {
  readonly summary: string;
  /** Options with comma-separated names; by default all known names are measured. */
  readonly names: Readonly<Record<Name, { help: string; known: readonly string[] }>>;
  /** Options with a positive whole number. */
  readonly counts: Readonly<Record<Count, { help: string; default: number }>>;
}

/** The values of the options. */
export interface Settings<Name extends string = string, Count extends string = string> {
  readonly names: Readonly<Record<Name, readonly string[]>>;
  readonly counts: Readonly<Record<Count, number>>;
  /** Whether no option was given, except `--out`. Without `--out` README.md then changes. */
  readonly isComplete: boolean;
  /** Folder of the JSON file. Default: `.local/bench`. */
  readonly out?: string | undefined;
}

/**
 * Reads the options of a benchmark, and `--out`. With `--help`, prints them and returns `undefined`.
 *
 * @throws {TypeError} that names an unknown option or one without a value
 * @throws {RangeError} that names the option and its invalid value
 */
export function readSettings<Name extends string, Count extends string>(
  args: readonly string[],
  { summary, names, counts }: Options<Name, Count>,
): Settings<Name, Count> | undefined {
  const known = Object.fromEntries(
    [...Object.keys(names), ...Object.keys(counts), 'out'].map((name) => [
      name,
      { type: 'string' as const },
    ]),
  );
  const { help, ...values } = parseArgs({
    args: [...args],
    options: { ...known, help: { type: 'boolean' } },
  }).values as { help?: boolean } & Readonly<Record<string, string | undefined>>;
  if (help) {
    process.stdout.write(`${summary}\n\n${describe({ names, counts })}`);
    return undefined;
  }
  const isComplete = Object.keys({ ...names, ...counts }).every((name) => !(name in values));
  return {
    names: mapValues(names, (name, { known }) => readNames(values[name], known)),
    counts: mapValues(counts, (name, count) => readCount(name, values[name] ?? count.default)),
    isComplete,
    out: values.out,
  };
}

function describe({ names, counts }: Pick<Options<string, string>, 'names' | 'counts'>): string {
  const lines = [
    ...Object.entries(names).map(([name, { help, known }]) => [
      `${name} ${known.slice(0, 2).join(',')}`,
      `${help} (${known.join(', ')})`,
    ]),
    ...Object.entries(counts).map(([name, count]) => [`${name} ${count.default}`, count.help]),
    ['out DIR', 'folder of the JSON file with every sample (default .local/bench)'],
  ];
  return lines.map(([option = '', help]) => `  --${option.padEnd(24)} ${help}\n`).join('');
}

function mapValues<Key extends string, Value, Result>(
  values: Readonly<Record<Key, Value>>,
  map: (key: Key, value: Value) => Result,
): Record<Key, Result> {
  const entries = Object.entries(values) as [Key, Value][];
  const mapped = entries.map(([key, value]) => [key, map(key, value)]);
  return Object.fromEntries(mapped) as Record<Key, Result>;
}

function readNames(text: string | undefined, known: readonly string[]): readonly string[] {
  const names = text?.split(',') ?? known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new RangeError(`Cannot find "${unknown}": expected one of ${known.join(', ')}`);
}

function readCount(option: string, value: string | number): number {
  const count = Number(value);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new RangeError(`Cannot read --${option} "${value}": expected a positive whole number`);
}
