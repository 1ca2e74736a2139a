/** `text` leads to the node, in folded case; the nodes of parameters and wildcards have none. */
export interface Node {
  text: string;
  readonly children: Map<string, Node>;
  param: Node | undefined;
  wildcard: Node | undefined;
  /** The number of the pattern that ends here, -1 for none. */
  pattern: number;
}
