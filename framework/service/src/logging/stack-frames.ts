/** The folder of the framework if this is its source; in a bundle, all code has one file. */
const FRAMEWORK = /^file:\/\/(.*\/)[^/]+\/src\/logging\/[^/]+$/.exec(import.meta.url)?.[1];

/** Whether a frame of a stack is not one of Node, of a package or of the framework. */
export function isOwnFrame(frame: string): boolean {
  return !/[ (]node:|\/node_modules\//.test(frame) && !(FRAMEWORK && frame.includes(FRAMEWORK));
}

/** Whether a line is a frame; one before the members of an error, which ends with `{`, stays where it is. */
const isFrame = (line: string) => /^ +at .*:\d+:\d+\)?$/.test(line);

/** An error as `inspect` prints it, with the own frames of each stack before the others. */
export function ownFramesFirst(text: string): string {
  const sorted: string[] = [];
  let others: string[] = [];
  for (const line of text.split('\n')) {
    if (isFrame(line) && !isOwnFrame(line)) {
      others.push(line);
      continue;
    }
    if (!isFrame(line)) {
      sorted.push(...others);
      others = [];
    }
    sorted.push(line);
  }
  return [...sorted, ...others].join('\n');
}
