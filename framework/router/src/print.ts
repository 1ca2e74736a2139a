/** A route as far as a drawing shows it. */
interface Drawn {
  readonly method: string;
  readonly path: string;
}

interface Branch {
  readonly methods: string[];
  readonly below: Map<string, Branch>;
}

/** Draws routes as a tree of path segments, in order of registration. */
export function drawRoutes(routes: readonly Drawn[]): string {
  const root: Branch = { methods: [], below: new Map() };
  for (const { method, path } of routes) {
    let branch = root;
    for (const segment of path.slice(1).split('/')) {
      const next = branch.below.get(segment) ?? { methods: [], below: new Map() };
      branch.below.set(segment, next);
      branch = next;
    }
    branch.methods.push(method);
  }
  return drawBelow(root, '').join('\n');
}

function drawBelow(branch: Branch, indent: string): string[] {
  const entries = [...branch.below];
  return entries.flatMap(([segment, below], index) => {
    const isLast = index === entries.length - 1;
    const methods = below.methods.length > 0 ? ` (${below.methods.join(', ')})` : '';
    return [
      `${indent}${isLast ? '└── ' : '├── '}/${segment}${methods}`,
      ...drawBelow(below, indent + (isLast ? '    ' : '│   ')),
    ];
  });
}
