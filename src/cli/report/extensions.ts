import {
  BackupBucket,
  BackupEntry,
  ControllerDeployment,
  ControllerInstallation,
  ControllerRegistration,
  Shoot,
} from "../../api/index.ts";
import { registrationsFor } from "../../api/registration/gate.ts";
import { readDeployment } from "../../api/registration/deployment.ts";
import { isSpokenFor } from "../../api/registration/installation.ts";
import { primaryConflicts } from "../../api/registration/primaries.ts";
import { registeredOf, type Registered } from "../../api/registration/registered.ts";
import { Seed } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { reportInstallation, seedNameOf, type InstallationFacts, type InstallationReport } from "./installation.ts";
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

/** What a garden says of its extensions, in the order of their names. `now` is ms since the epoch. */
export async function reportExtensions(client: KubeClient, now: number): Promise<readonly ExtensionReport[]> {
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
      .sort((a, b) => (seedNameOf(a) < seedNameOf(b) ? -1 : 1));
  const operators = await readOperators(client, installations);
  const report = (installation: ControllerInstallation, one: Registered) =>
    reportInstallation(installation, {
      by: installerOf(installation, one, operators),
      seed: seeds.find(({ metadata }) => metadata.name === installation.spec.seedRef?.name),
      now,
    });
  return registered.map((one) => ({
    name: one.name,
    resources: one.offers.map(({ kind, type, primary }) => `${kind} ${type}${primary ? "" : " (secondary)"}`),
    deployedBy: deployedBy(one),
    policy: one.policy,
    installations: installationsOf(one).map((installation) => report(installation, one)),
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

/** The types that operators install, by ControllerDeployment: of installations on which there is no report yet. */
async function readOperators(client: KubeClient, installations: readonly ControllerInstallation[]) {
  const unreported = installations.filter((one) => !isSpokenFor(one));
  const names = new Set(unreported.flatMap(({ spec }) => spec.deploymentRef?.name ?? []));
  const operators = new Map<string, string>();
  for (const name of names) {
    const found = await client.read(ControllerDeployment, { name });
    const reading = found && readDeployment(found);
    if (reading?.is === "other") operators.set(name, reading.type);
  }
  return operators;
}

function installerOf(
  { spec }: ControllerInstallation,
  { method }: Registered,
  operators: ReadonlyMap<string, string>,
): InstallationFacts["by"] {
  if (method.by === "others") return "others";
  const type = method.by === "operator" ? method.type : operators.get(spec.deploymentRef?.name ?? "");
  return type === undefined ? "perennial" : { operatorFor: type };
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
