import { Seed, ShootState, type Shoot } from "../api/index.ts";
import type { KeptState, MigrationFacts } from "../api/migration.ts";
import type { KubeClient } from "../kube/index.ts";

/** The two ends of a Shoot's move. */
export interface Ends {
  readonly from: string | undefined;
  readonly to: string;
}

/** Reads from the garden what a Shoot's move depends on. */
export async function readMigrationFacts(
  garden: Pick<KubeClient, "read">,
  shoot: Shoot,
  { from, to }: Ends,
  now: Date = new Date(),
): Promise<MigrationFacts> {
  const [source, destination, kept] = await Promise.all([
    readSeed(garden, from),
    readSeed(garden, to),
    readKeptState(garden, shoot),
  ]);
  return { shoot, to, source, destination, now, kept };
}

async function readSeed(garden: Pick<KubeClient, "read">, name: string | undefined): Promise<Seed | undefined> {
  if (name === undefined) return undefined;
  return garden.read<Seed>({ apiVersion: Seed.apiVersion, kind: Seed.kind, name });
}

/** A ShootState too large for one object goes on in `<name>--2` and so on. */
async function readKeptState(garden: Pick<KubeClient, "read">, { metadata }: Shoot): Promise<KeptState> {
  const { namespace } = metadata;
  let found = false;
  for (let part = 1; ; part += 1) {
    const name = part === 1 ? metadata.name : `${metadata.name}--${part}`;
    const state = await garden.read<ShootState>({
      apiVersion: ShootState.apiVersion,
      kind: ShootState.kind,
      namespace,
      name,
    });
    if (state === undefined) return { state: found, snapshot: false };
    found = true;
    const snapshot = state.spec?.gardener?.find(({ type }) => type === SNAPSHOT_TYPE);
    if (snapshot) return { state: true, snapshot: true, ...readRecord(snapshot.data) };
  }
}

/** A record that is sealed says nothing here. */
function readRecord(data: unknown): Pick<KeptState, "size" | "takenAt"> {
  const { size, takenAt } = (data ?? {}) as { size?: unknown; takenAt?: unknown };
  return { ...(typeof size === "number" && { size }), ...(typeof takenAt === "string" && { takenAt }) };
}

/** Type of the entry of a ShootState that names the latest verified snapshot of a Shoot's etcd. */
const SNAPSHOT_TYPE = "etcd-snapshot";
