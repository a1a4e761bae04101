import { SEED_ACCESS_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  ClusterRole,
  ClusterRoleBinding,
  createReflector,
  refOf,
  Role,
  RoleBinding,
  type Kind,
  type KubeClient,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { grantsSame, keyOfAccess } from "./objects.ts";

/** `onChange` is told the id of each object of which the rights were changed, by us or by another client. */
export interface GrantedDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly onChange: (id: string) => void;
}

/** The roles and bindings of seeds as they are in the garden, found by the id of the object that they are for. */
export function createGranted({ gardenClient, log, onChange }: GrantedDeps) {
  const known = new Map<string, Map<string, KubeObject>>();

  const follow = <T extends KubeObject>(kind: Kind<T>) =>
    createReflector(gardenClient, kind, {
      labelSelector: SEED_ACCESS_LABEL,
      log,
      onEvent: ({ type, object, old }) => {
        const id = idOf(object);
        if (old !== undefined && idOf(old) !== id) forget(old);
        if (type === "deleted") forget(object);
        else known.set(id, (known.get(id) ?? new Map<string, KubeObject>()).set(keyOfAccess(object), object));
        onChange(id);
      },
    });
  const forget = (object: KubeObject) => {
    const id = idOf(object);
    known.get(id)?.delete(keyOfAccess(object));
    if (known.get(id)?.size === 0) known.delete(id);
  };
  const reflectors = [follow(Role), follow(RoleBinding), follow(ClusterRole), follow(ClusterRoleBinding)];

  return {
    /** Makes these the rights on an object, and takes away what else was granted on it. */
    async replace(id: string, wanted: readonly KubeObject[]): Promise<void> {
      const existing = known.get(id) ?? new Map<string, KubeObject>();
      for (const object of wanted)
        if (!grantsSame(existing.get(keyOfAccess(object)), object)) await gardenClient.apply(object);
      const keys = new Set(wanted.map(keyOfAccess));
      for (const [key, object] of existing) if (!keys.has(key)) await gardenClient.remove(refOf(object));
    },
    start: () => reflectors.forEach((reflector) => reflector.start()),
    synced: () => Promise.all(reflectors.map((reflector) => reflector.synced())),
    stop: () => Promise.all(reflectors.map((reflector) => reflector.stop())),
  };
}

const idOf = ({ metadata }: KubeObject): string => metadata.labels?.[SEED_ACCESS_LABEL] ?? "";
