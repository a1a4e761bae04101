import { REGISTRATION_LABEL, ROLE_LABEL } from "../api/labels.ts";
import { ControllerRegistration } from "../api/index.ts";
import { asLabel } from "../api/registration/registered.ts";
import { createReflector, Lease, Namespace, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** When extension controllers were last heard of. */
export interface Heartbeats {
  /**
   * When the controller in charge of a kind and type renewed its Lease, ms since the epoch; 0 where it never did, undefined where
   * it was not installed by a registration and so promises no heartbeat.
   */
  heardAt(kind: string, type: string): number | undefined;
  start(): void;
  stop(): Promise<void>;
}

/** Follows the registrations of the garden, and in the seed the namespaces that extensions run in with their Leases. */
export function createHeartbeats(deps: {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly log: Logger;
}): Heartbeats {
  const { gardenClient, seedClient, log } = deps;
  const ignore = { log, onEvent: () => {} };
  const registrations = createReflector(gardenClient, ControllerRegistration, {
    ...ignore,
    keep: ({ apiVersion, kind, metadata, spec: { resources } }) => ({
      ...{ apiVersion, kind, metadata: { name: metadata.name, resourceVersion: metadata.resourceVersion } },
      spec: { resources }, // a chart has megabytes
    }),
  });
  const namespaces = createReflector(seedClient, Namespace, { ...ignore, labelSelector: `${ROLE_LABEL}=extension` });
  const leases = createReflector(seedClient, Lease, { ...ignore, fieldSelector: `metadata.name=${HEARTBEAT}` });
  const all = [registrations, namespaces, leases];

  const registrationOf = (kind: string, type: string) =>
    registrations
      .list()
      .find(({ spec }) =>
        spec.resources?.some((one) => one.kind === kind && one.type === type && one.primary !== false),
      )?.metadata.name;

  return {
    heardAt(kind, type) {
      const registration = registrationOf(kind, type);
      if (registration === undefined) return undefined;
      const label = asLabel(registration);
      const home = namespaces.list().find(({ metadata }) => metadata.labels?.[REGISTRATION_LABEL] === label);
      if (home === undefined) return undefined;
      const { renewTime } = leases.get(HEARTBEAT, home.metadata.name)?.spec ?? {};
      return renewTime === undefined ? 0 : Date.parse(renewTime);
    },
    start: () => all.forEach((reflector) => reflector.start()),
    stop: async () => void (await Promise.all(all.map((reflector) => reflector.stop()))),
  };
}

const HEARTBEAT = "gardener-extension-heartbeat";
