import fs from 'node:fs';
import path from 'node:path';

/** A version of a program that a file of this repository requires or installs. */
export interface PinnedVersion {
  readonly product: string;
  readonly version: string;
  /** The path from the root of the repository. */
  readonly file: string;
}

interface Finder {
  /** A glob pattern. */
  readonly files: string;
  /** Its group `version`, and `product` if that is not fixed. */
  readonly pattern: RegExp;
  readonly product?: string;
}

const DOCKERFILES = '{Dockerfile,framework/create/template/Dockerfile}';

const FINDERS: readonly Finder[] = [
  { files: DOCKERFILES, pattern: /^ARG \w+=(?:\S*\/)?(?<product>\w+):(?<version>\d[\d.]*)/gm },
  { files: DOCKERFILES, pattern: /nodejs(?<version>\d+)/g, product: 'node' },
  { files: DOCKERFILES, pattern: /debian(?<version>\d+)/g, product: 'debian' },
  {
    files: `{${DOCKERFILES},deploy/charts/*/values.yaml}`,
    pattern: /:\s?\d[\d.]*-(?<version>bullseye|bookworm|trixie|forky)/g,
    product: 'debian',
  },
  {
    files: 'deploy/charts/*/values.yaml',
    pattern: /repository: (?:\S+\/)?(?<product>[\w-]+)\n.*\n\s+tag: (?<version>\d[\d.]*)/g,
  },
  {
    files: 'deploy/charts/*/Chart.yaml',
    pattern: /^kubeVersion: '>=(?<version>\d+\.\d+)/gm,
    product: 'kubernetes',
  },
  {
    files: 'deploy/local/cluster/kind-images.ts',
    pattern: /kindest\/node:v(?<version>\d+\.\d+)/g,
    product: 'kubernetes',
  },
  {
    // The module that contains the program of the line "tool".
    files: 'deploy/local/go/*/go.mod',
    pattern:
      /^module tools\/(?<product>.+)\n[\s\S]+^tool (?<module>\S+?)(?:\/cmd\/.+)?\n[\s\S]+^\t\k<module> v(?<version>[\d.]+)/gm,
  },
  {
    files: 'deploy/local/observe/zipkin.ts',
    pattern: /^const VERSION = '(?<version>[\d.]+)'/gm,
    product: 'zipkin',
  },
  { files: 'deploy/local/install-tool.ts', pattern: /Go (?<version>\d+\.\d+)/g, product: 'go' },
  {
    files: '{.,framework/*,framework/create/template}/package.json',
    pattern: /"node": ">=(?<version>[\d.]+)"/g,
    product: 'node',
  },
  { files: 'deploy/local/install-node.sh', pattern: /^version=(?<version>.+)/gm, product: 'node' },
  {
    files: 'tests/installation/runtimes.ts',
    pattern: /(?<product>node|bun|deno): \[?'(?<version>[\d.]+)'/g,
  },
  {
    files: '{docs/operations/releases.md,tests/e2e/releases/*.{sh,ts}}',
    pattern: /releases\/download\/v(?<version>[\d.]+)|^ROLLOUTS=(?<version>.+)/gm,
    product: 'argo-rollouts',
  },
  {
    files: 'tests/e2e/releases/*.{sh,ts}',
    pattern: /prom\/prometheus:v(?<version>[\d.]+)|^PROMETHEUS=(?<version>.+)/gm,
    product: 'prometheus',
  },
  {
    files: 'tests/conformance/environment.ts',
    pattern: /Python (?<version>\d+\.\d+)/g,
    product: 'python',
  },
];

/** Names of products, and of versions, that the list of release cycles spells differently. */
const NAMES: Readonly<Record<string, string>> = {
  'nginx-unprivileged': 'nginx',
  bullseye: '11',
  bookworm: '12',
  trixie: '13',
  forky: '14',
};

/** The versions in the files of the repository at `root`, each once per file. */
export function findPinnedVersions(root: string): PinnedVersion[] {
  const found = FINDERS.flatMap((finder) =>
    fs
      .globSync(finder.files, { cwd: root })
      .flatMap((file) => findInText(finder, fs.readFileSync(path.join(root, file), 'utf8'), file)),
  );
  return [...new Map(found.map((one) => [Object.values(one).join(' '), one])).values()];
}

function findInText({ pattern, product }: Finder, text: string, file: string): PinnedVersion[] {
  return [...text.matchAll(pattern)].map(({ groups = {} }) => {
    const name = product ?? groups.product ?? '';
    const version = groups.version ?? '';
    return { product: NAMES[name] ?? name, version: NAMES[version] ?? version, file };
  });
}
