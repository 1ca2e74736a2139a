/**
 * The README of a packed package. Links and images of files become text, because the package does not
 * contain these files.
 */
export function packedReadme(readme: string): string {
  return readme.replace(/!?\[([^\]\n]+)\]\((?!https?:|#)[^)\n]+\)/g, '$1');
}
