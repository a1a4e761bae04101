import { writeSync } from "node:fs";
import { createDirectoryClient } from "../../src/kube/directory/directory-client.ts";
import { ConfigMap, refTo } from "../../src/kube/index.ts";
import { numbered, WRITTEN } from "./numbered-object.ts";

// Writes to a directory for ever, from a number on, and says of each write, when it is done, its number and its version.
const [directory = "", from = "0"] = process.argv.slice(2);
const client = createDirectoryClient({ directory });

for (let number = Number(from); ; number++) {
  const object = numbered(number);
  const ref = refTo(ConfigMap, object.metadata);
  if (number % (3 * WRITTEN) < WRITTEN) await client.remove(ref);
  const { metadata } = await client.apply(object);
  writeSync(1, `${number} ${metadata.resourceVersion}\n`);
}
