import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { down } from "../src/local/environment/down.ts";
import { createShoot } from "../test/support/e2e-shoots.ts";
import { localEnvironment } from "../test/support/local-environment.ts";
import { fillTo } from "./move-data.ts";
import { printTimeline } from "./move-timeline.ts";
import { moveOnce, type Move } from "./one-move.ts";

/**
 * How long a Shoot's API server is away while its control plane moves, what that time is made of, and how it grows with
 * what etcd holds: `npm run bench:move` (`--megabytes=0,300,1000`). Needs root, like the local environment that it runs
 * in. One Shoot without workers goes to and fro between two seeds, and holds more each time.
 */
const { values } = parseArgs({ options: { megabytes: { type: "string", default: "0,300,1000" } } });
const name = "bench-move";
try {
  await main(values.megabytes.split(",").map(Number));
} finally {
  await down({ name });
}

async function main(sizes: readonly number[]): Promise<void> {
  const local = await localEnvironment(name);
  try {
    const shoot = await createShoot(local, { name: "move", workerless: true });
    await shoot.settles("Succeeded", "Create", 300_000);
    const moves: Move[] = [];
    for (const megabytes of sizes) {
      const bytes = await fillTo(local, shoot, megabytes);
      const [from, to] = moves.length % 2 === 0 ? (["seed-1", "seed-2"] as const) : (["seed-2", "seed-1"] as const);
      const move = await moveOnce(local, shoot, { from, to, bytes });
      moves.push(move);
      printTimeline(move.spans, move.gapBegan);
      console.log(inWords(move, moves[0]));
    }
  } finally {
    await local.close();
  }
}

/** A move, and how much more it took than the first one for each GB that it had more. */
function inWords({ bytes, byName, byAddress }: Move, first: Move | undefined): string {
  const more = bytes - (first?.bytes ?? bytes);
  const slope =
    more > 0 && first ? `; ${((byName - first.byName) / 1_000 / (more / 1e9)).toFixed(1)} s for each further GB` : "";
  const load = loadavg()
    .map((one) => one.toFixed(1))
    .join(" ");
  return `etcd of ${(bytes / 1e9).toFixed(2)} GB: away for ${seconds(byName)} by name, ${seconds(byAddress)} by address${slope} (load ${load})`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
