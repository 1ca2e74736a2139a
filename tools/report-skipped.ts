import type { TestCase, TestModule, TestProject, TestSuite } from 'vitest/node';

import './skip-missing.ts';

/** Global setup of Vitest: the last lines name each missing program, its reason and the skipped tests. */
export default function setup(project: TestProject): () => void {
  return () => {
    for (const line of skippedLines(project)) console.warn(line);
  };
}

function skippedLines(project: TestProject): string[] {
  const skipped = project.vitest.state
    .getTestModules()
    .filter((module) => module.project === project)
    .flatMap((module) => [...module.children.allTests('skipped')].flatMap(missingOf));
  return [...Map.groupBy(skipped, ({ program }) => program)].map(
    ([program, tests]) =>
      `Skipped ${tests.length} ${tests.length === 1 ? 'test' : 'tests'} without ${program}: ${tests[0]?.reason}`,
  );
}

/** The program that a skipped test or a group around it did not find. */
function missingOf(test: TestCase): { readonly program: string; readonly reason: string }[] {
  let task: TestCase | TestSuite | TestModule = test;
  while (!task.meta().missing && task.type !== 'module') task = task.parent;
  return [task.meta().missing ?? []].flat();
}
