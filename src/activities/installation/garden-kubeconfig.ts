import { GARDEN_KUBECONFIG_FOLDER } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";

/** The Secrets in an installation's namespace that its pods read: one with the kubeconfig, one with the token. */
export const gardenSecrets = { kubeconfig: "generic-garden-kubeconfig", token: "garden-access-extension" } as const;

const folder = GARDEN_KUBECONFIG_FOLDER;

/** Where a pod finds its token. */
export const gardenTokenFile = `${folder}/token`;

/**
 * Workloads whose containers know the garden: `GARDEN_KUBECONFIG` names the file of a kubeconfig, `SEED_NAME` the Seed, as
 * upstream injects them. A workload of which a container sets `GARDEN_KUBECONFIG` itself stays as it is, and so does all else.
 */
export function withGardenKubeconfig(objects: readonly KubeObject[], seedName: string): KubeObject[] {
  return objects.map((object) => {
    const path = pathOfPods(object);
    return path === undefined ? object : (changeAt(object, path, (pods) => inject(pods, seedName)) as KubeObject);
  });
}

function pathOfPods({ apiVersion, kind }: KubeObject): readonly string[] | undefined {
  if (!/^(apps|batch)\//.test(apiVersion)) return undefined;
  return kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template", "spec"] : ["spec", "template", "spec"];
}

type Fields = Readonly<Record<string, unknown>>;

function changeAt(value: Fields, [first, ...rest]: readonly string[], change: (pods: Fields) => Fields): Fields {
  if (first === undefined) return change(value);
  const inner = value[first];
  return isFields(inner) ? { ...value, [first]: changeAt(inner, rest, change) } : value;
}

function inject(pods: Fields, seedName: string): Fields {
  const lists = ["containers", "initContainers"].map((list) => [list, listOf(pods[list])] as const);
  if (lists.some(([, containers]) => containers.some(knowsGarden))) return pods;
  const changed = lists
    .filter(([, containers]) => containers.length > 0)
    .map(([list, containers]) => [list, containers.map((container) => equip(container, seedName))] as const);
  return { ...pods, ...Object.fromEntries(changed), volumes: [...listOf(pods["volumes"]), volume] };
}

const equip = (container: Fields, seedName: string): Fields => ({
  ...container,
  env: [
    ...listOf(container["env"]),
    { name: "GARDEN_KUBECONFIG", value: `${folder}/kubeconfig` },
    ...(listOf(container["env"]).some(({ name }) => name === "SEED_NAME")
      ? []
      : [{ name: "SEED_NAME", value: seedName }]),
  ],
  volumeMounts: [...listOf(container["volumeMounts"]), { name: volume.name, mountPath: folder, readOnly: true }],
});

const volume = {
  name: "garden-kubeconfig",
  projected: {
    defaultMode: 0o644,
    sources: Object.entries(gardenSecrets).map(([key, name]) => ({
      secret: { name, items: [{ key, path: key }], optional: false },
    })),
  },
};

const knowsGarden = (container: Fields): boolean =>
  listOf(container["env"]).some(({ name }) => name === "GARDEN_KUBECONFIG");

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
