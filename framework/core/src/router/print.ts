import type { MatchedRoute } from '../context.ts';

interface Branch {
  readonly methods: string[];
  readonly children: Map<string, Branch>;
}

/** Draws routes as a tree of path segments, in the order of registration. */
export function drawRoutes(routes: readonly MatchedRoute[]): string {
  const root: Branch = { methods: [], children: new Map() };
  for (const { method, path } of routes) {
    let branch = root;
    for (const segment of path.slice(1).split('/')) {
      const next = branch.children.get(segment) ?? { methods: [], children: new Map() };
      branch.children.set(segment, next);
      branch = next;
    }
    branch.methods.push(method);
  }
  return drawChildren(root, '').join('\n');
}

function drawChildren(branch: Branch, indent: string): string[] {
  const entries = [...branch.children];
  return entries.flatMap(([segment, child], index) => {
    const isLast = index === entries.length - 1;
    const methods = child.methods.length > 0 ? ` (${child.methods.join(', ')})` : '';
    return [
      `${indent}${isLast ? '└── ' : '├── '}/${segment}${methods}`,
      ...drawChildren(child, indent + (isLast ? '    ' : '│   ')),
    ];
  });
}
