import { BackupBucket, BackupEntry, ControllerInstallation, ControllerRegistration, Shoot } from "../../api/index.ts";
import { registrationsFor } from "../../api/registration/gate.ts";
import { whyNotReady } from "../../api/registration/installation.ts";
import { primaryConflicts } from "../../api/registration/primaries.ts";
import { registeredOf, type Registered } from "../../api/registration/registered.ts";
import { Seed } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { findHolders, type Backups } from "./removal.ts";

/** A registered controller: what it is for, where it is, who needs it, and what is wrong. */
export interface ExtensionReport {
  readonly name: string;
  /** `Kind type`, with a note where it is not primary. */
  readonly resources: readonly string[];
  /** How it gets into seeds, in words. */
  readonly deployedBy: string;
  readonly policy: string;
  readonly installations: readonly InstallationReport[];
  /** The Shoots that need it, as `namespace/name`. */
  readonly shoots: readonly string[];
  /** What keeps it from being installed anywhere, or from going. */
  readonly problems: readonly string[];
}

/** A controller on a Seed. Times are RFC 3339. */
export interface InstallationReport {
  readonly name: string;
  readonly seed: string;
  readonly ready: boolean;
  /** Why it is not. */
  readonly reason?: string;
  readonly since?: string;
}

/** What a garden says of its extensions, in the order of their names. */
export async function reportExtensions(client: KubeClient): Promise<readonly ExtensionReport[]> {
  const [registrations, installations, shoots, seeds] = await Promise.all([
    client.list(ControllerRegistration),
    client.list(ControllerInstallation),
    client.list(Shoot),
    client.list(Seed),
  ]);
  const registered = registrations.map(registeredOf).sort((one, other) => (one.name < other.name ? -1 : 1));
  const users = usersOf(registered, shoots, seeds);
  const backups = registered.some(({ deleting }) => deleting) ? await readBackups(client) : none;
  const installationsOf = ({ name }: Registered) =>
    installations
      .filter(({ spec }) => spec.registrationRef.name === name)
      .sort((a, b) => (seedOf(a) < seedOf(b) ? -1 : 1));
  return registered.map((one) => ({
    name: one.name,
    resources: one.offers.map(({ kind, type, primary }) => `${kind} ${type}${primary ? "" : " (secondary)"}`),
    deployedBy: deployedBy(one),
    policy: one.policy,
    installations: installationsOf(one).map(reportInstallation),
    shoots: users.get(one.name) ?? [],
    problems: [
      ...primaryConflicts(one, registered).map(
        ({ kind, type, primary }) =>
          `it is not installed: ${primary} is primary for ${kind} ${type}; delete one of the two, or set primary to false`,
      ),
      ...findHolders(one, installationsOf(one), { ...backups, shoots, seeds }),
    ],
  }));
}

const none: Backups = { buckets: [], entries: [] };

async function readBackups(client: KubeClient): Promise<Backups> {
  const [buckets, entries] = await Promise.all([client.list(BackupBucket), client.list(BackupEntry)]);
  return { buckets, entries };
}

const seedOf = ({ spec }: ControllerInstallation): string => spec.seedRef?.name ?? "<none>";

function reportInstallation(installation: ControllerInstallation): InstallationReport {
  const why = whyNotReady(installation);
  return { name: installation.metadata.name, seed: seedOf(installation), ready: why === undefined, ...why };
}

function usersOf(registered: readonly Registered[], shoots: readonly Shoot[], seeds: readonly Seed[]) {
  const users = new Map<string, string[]>();
  for (const shoot of shoots) {
    const seed = seeds.find(({ metadata }) => metadata.name === (shoot.status?.seedName ?? shoot.spec.seedName));
    for (const { registered: one } of registrationsFor(shoot, seed, registered))
      users.set(one.name, [...(users.get(one.name) ?? []), `${shoot.metadata.namespace}/${shoot.metadata.name}`]);
  }
  return users;
}

function deployedBy({ method }: Registered): string {
  if (method.by === "reference") return `ControllerDeployment ${method.name}`;
  if (method.by === "helm") return "Perennial, from the chart in the registration";
  return method.by === "operator"
    ? `an operator for type ${method.type}`
    : "others: the registration names no deployment";
}
