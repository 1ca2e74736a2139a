import fs from 'node:fs';
import path from 'node:path';

/** A message in the code of a package. */
interface Message {
  readonly text: string;
  /** The class of the error, or `warning`. */
  readonly kind: string;
  /** The file, from the root of the repository. */
  readonly file: string;
}

/** A text between apostrophes or backticks (\x60). */
const TEXT = String.raw`(?:'((?:[^'\\\n]|\\.)+)'|\x60((?:[^\x60\\]|\\.)+)\x60)`;

/** The creation of an error, or the call of a logger, with the text of its message and whether it continues. */
const CALL = new RegExp(
  String.raw`(?:new (\w*Error)|warn\w*|logger\??\.(?:warn|error))\(\s*(?:[\w.]+,\s*)?${TEXT}(\s*\+)?`,
  'g',
);

/** A part of a message that the code computes; it may contain texts and braces. */
const COMPUTED = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;

/** The messages of the packages below `root` as Markdown: a heading and a table for each package. */
export function renderMessages(root: string): string {
  const files = fs
    .globSync('framework/*/src/**/*.ts', { cwd: root })
    .filter((file) => !/\.test\.ts$|\/(?:testing|fixtures)\/|\/examples\//.test(file));
  const byPackage = Map.groupBy(
    files.sort().flatMap((file) => messagesOf(root, file)),
    ({ file }) => file.split('/')[1],
  );
  return [...byPackage]
    .map(([name, messages]) => `## ${name}\n\n${tableOf(messages)}\n`)
    .join('\n');
}

function messagesOf(root: string, file: string): Message[] {
  const source = fs.readFileSync(path.join(root, file), 'utf8');
  return [...source.matchAll(CALL)].map(([, kind = 'warning', one, other, more]) => {
    const text = (one ?? other ?? '').replace(COMPUTED, '…').replace(/\\(.)/g, '$1');
    return { kind, file, text: more ? `${text.trimEnd()} …` : text };
  });
}

function tableOf(messages: readonly Message[]): string {
  const rows = messages
    .toSorted((one, other) => one.text.localeCompare(other.text))
    .map(({ text, kind, file }) => {
      const shown = text.replaceAll('|', '\\|').replaceAll('`', "'");
      return `| \`${shown}\` | ${kind} | [${path.basename(file)}](../${file}) |`;
    });
  return ['| Message | Kind | Place |', '|---|---|---|', ...rows].join('\n');
}
