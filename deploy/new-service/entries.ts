import type { ServiceWords } from './names.ts';
import { rename } from './rename.ts';

/** A file that lists the services and cannot be derived from services.ts. */
interface SharedFile {
  readonly file: string;
  /** The entries of users. */
  readonly entry: RegExp;
  /** Where the renamed copy is inserted. Default: after each entry of users. */
  readonly before?: RegExp;
}

/** Every file that gets an entry of a new service; the tests of the generator name a missing one. */
export const SHARED_FILES: readonly SharedFile[] = [
  {
    file: 'services/services.ts',
    entry: /^ {2}\{\n {4}name: 'users',\n(?: {4}.*\n)+ {2}\},\n/m,
    before: /^\] as const satisfies readonly ServiceDescription/m,
  },
  {
    file: 'services/README.md',
    entry: /^\| \[users\]\(users\) .*\n/m,
    before: /^\n## One service/m,
  },
  { file: 'deploy/charts/platform/Chart.yaml', entry: /^ {2}- name: users\n(?: {4}.*\n)+/m },
  {
    file: 'deploy/charts/platform/values.yaml',
    entry: /^# Values of the chart users.*\nusers:\n(?: {2}.*\n)+\n/m,
  },
  { file: 'deploy/nginx/nginx.conf', entry: /^ {4}"~\^GET \/api\/v\[12\]\/users\/.*\n/gm },
  {
    file: 'deploy/nginx/page/index.html',
    entry: /^ {4}<article data-check="\/api\/v2\/users.*?<\/article>\n/ms,
    before: /^ {2}<\/section>/m,
  },
  {
    file: 'deploy/charts/platform/files/test.js',
    entry: /^ {2}async users\(\) \{\n.*?^ {2}\},\n/ms,
    before: /^\};/m,
  },
  { file: 'deploy/README.md', entry: /users (?=[a-z ]+; do)/ },
  { file: 'deploy/README.md', entry: /^users:\n {2}image: .*\n/m },
];

/**
 * The text of a shared file with the entries of a new service.
 *
 * @throws {Error} naming the file, if it has no entry to copy
 */
export function withEntries(
  text: string,
  { file, entry, before }: SharedFile,
  words: ServiceWords,
): string {
  const copies: string[] = [];
  const copied = text.replace(entry, (found) => {
    const copy = rename(found, words);
    copies.push(copy);
    return before ? found : found + copy;
  });
  if (copies.length === 0 || (before && !before.test(text))) {
    throw new Error(`Cannot add the service to ${file}: expected an entry like ${entry.source}`);
  }
  return before ? copied.replace(before, (found) => copies.join('') + found) : copied;
}
