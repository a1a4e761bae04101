/** Writes deploy/seed/crds from the Go modules that publish them. Needs Go and a module proxy, so `npm run generate` leaves it out. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { upstreamCrdFiles } from "./upstream-crds.ts";

const directory = join(import.meta.dirname, "../deploy/seed/crds");
const files = await upstreamCrdFiles();
await rm(directory, { recursive: true, force: true });
await mkdir(directory, { recursive: true });
for (const [name, content] of files) await writeFile(join(directory, name), content);
