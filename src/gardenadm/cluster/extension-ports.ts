/** Of the ports that extensions have on the host of a first node. */
const FIRST_PORT = 20_100;

/** How many ports an extension may use there. */
const COUNT = 5;

/** The ports of a host that the extension of this place in the list of all has to itself. */
export const extensionPorts = (index: number): number[] =>
  Array.from({ length: COUNT }, (_, port) => FIRST_PORT + COUNT * index + port);
