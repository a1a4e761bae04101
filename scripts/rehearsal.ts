/**
 * `npm run rehearse -- pods`, `compose` or `existing`: deploys Perennial as docs/deploying.md says, on clusters that are
 * made for it and taken away afterwards, and creates a Shoot through it. Needs what the demo needs, and what `npm run image`
 * needs. `clear` takes away what a killed rehearsal has left, as each of them does first.
 */
import { clearContainers } from "./image/containers.ts";
import { rehearseCompose } from "./rehearsal/compose.ts";
import { clearExisting, rehearseExisting } from "./rehearsal/existing.ts";
import { clearGrounds } from "./rehearsal/grounds.ts";
import { rehearsePods } from "./rehearsal/pods.ts";

const rehearsals: Readonly<Record<string, () => Promise<void>>> = {
  pods: rehearsePods,
  compose: rehearseCompose,
  existing: rehearseExisting,
  clear: async () => {},
};

const [name = ""] = process.argv.slice(2);
const rehearse = rehearsals[name];
if (rehearse === undefined) throw new Error(`cannot rehearse "${name}": say ${Object.keys(rehearsals).join(" or ")}`);
await clearContainers();
await clearExisting();
await clearGrounds();
// Without its grounds the rehearsal fails, and takes the rest away as after any failure.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void clearGrounds());
await rehearse();
