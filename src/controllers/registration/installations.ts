import { ControllerInstallation } from "../../api/index.ts";
import { installedHash, isHeld, wantedHash, type HelmStatus } from "../../api/registration/installation.ts";
import { briefConditions, createReflector, inShort, type KubeClient, type Reflector } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** `onChange` is told of each installation that has changed, or gone, and of what it was before. */
export interface InstallationsDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly onChange: (installation: ControllerInstallation, old?: ControllerInstallation) => void;
}

/** The installations that there are, found by what they install where. */
export function createInstallations({ gardenClient, log, onChange }: InstallationsDeps) {
  const byCell = new Map<string, Map<string, ControllerInstallation>>();
  const byRegistration = new Map<string, number>();
  const bySeed = new Map<string, number>();

  const count = ({ spec }: ControllerInstallation, by: 1 | -1) => {
    for (const [counts, name = ""] of [
      [byRegistration, spec.registrationRef.name] as const,
      [bySeed, spec.seedRef?.name] as const,
    ])
      counts.set(name, (counts.get(name) ?? 0) + by);
  };
  const forget = (installation: ControllerInstallation) => {
    const known = byCell.get(cellOf(installation));
    if (known?.delete(installation.metadata.name) !== true) return;
    count(installation, -1);
    if (known.size === 0) byCell.delete(cellOf(installation));
  };
  const remember = (installation: ControllerInstallation) => {
    const cell = cellOf(installation);
    byCell.set(
      cell,
      (byCell.get(cell) ?? new Map<string, ControllerInstallation>()).set(installation.metadata.name, installation),
    );
    count(installation, 1);
  };
  const reflector: Reflector<ControllerInstallation> = createReflector(gardenClient, ControllerInstallation, {
    log,
    keep: knownInstallation,
    onEvent: ({ type, object, old }) => {
      forget(old ?? object);
      const kept = type === "deleted" ? undefined : reflector.get(object.metadata.name);
      if (kept !== undefined) remember(kept);
      onChange(kept ?? knownInstallation(object), old);
    },
  });

  return {
    /** Those of a registration on a Seed: one, unless others than the manager have made more. */
    of: (registration: string, seed: string) => [...(byCell.get(`${registration} ${seed}`)?.values() ?? [])],
    countOf: (registration: string) => byRegistration.get(registration) ?? 0,
    countOn: (seed: string) => bySeed.get(seed) ?? 0,
    get: (name: string) => reflector.get(name),
    list: () => reflector.list(),
    start: () => reflector.start(),
    synced: () => reflector.synced(),
    stop: () => reflector.stop(),
  };
}

const cellOf = ({ spec }: ControllerInstallation): string => `${spec.registrationRef.name} ${spec.seedRef?.name}`;

/** Whether a flow has something to do for an installation that Perennial installs. */
export const isOpen = (installation: ControllerInstallation): boolean =>
  installation.metadata.deletionTimestamp === undefined
    ? installedHash(installation) !== wantedHash(installation)
    : isHeld(installation);

/** Whether its seed has said that it has objects which need the controller. */
export const isRequired = ({ status }: ControllerInstallation): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === "Required" && condition.status === "True");

/** What is remembered of an installation. Its seed writes its status, past all webhooks: of that, what is read here. */
function knownInstallation({ status, ...installation }: ControllerInstallation): ControllerInstallation {
  const { kind, hash } = (status?.providerStatus ?? {}) as Partial<Record<keyof HelmStatus, unknown>>;
  const providerStatus = { kind: inShort(kind), hash: inShort(hash) };
  return { ...installation, status: { conditions: briefConditions(status?.conditions, judgedBy), providerStatus } };
}

const judgedBy = ["Valid", "Installed", "Healthy", "Progressing", "Required"];
