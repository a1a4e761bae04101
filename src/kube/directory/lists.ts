import { groupOf, isBuiltInGroup } from "./traits.ts";

/** How two writers share a list: by the fields that tell its items apart, as a set of values, or not at all. */
export type ListRule = { readonly keys: readonly ListKey[] } | "set" | "atomic";

/** A field that tells items apart, and its value where an item does not say it. */
export interface ListKey {
  readonly name: string;
  readonly otherwise?: string;
}

/** How the lists of one kind are shared; `path` is made of field names, without the items on the way. */
export type ListRules = (path: readonly string[]) => ListRule;

/**
 * The lists of a kind. There is no schema to ask, so this goes by names: those below, in Kubernetes' own kinds; in others
 * `status.conditions` and what a CustomResourceDefinition of ours declares. Every other list has one owner, as a whole.
 */
export function listRulesOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): ListRules {
  const own = OWN_LISTS.get(`${kind}.${groupOf(apiVersion)}`) ?? {};
  const builtIn = isBuiltInGroup(groupOf(apiVersion));
  return (path) => {
    const [field = ""] = path.slice(-1);
    if (path[0] === "metadata") return METADATA[field] ?? "atomic";
    const place = path.join(".");
    if (builtIn) return BUILT_IN[path.slice(-2).join(".")] ?? BUILT_IN[field] ?? "atomic";
    return own[place] ?? (place === "status.conditions" ? keys("type") : "atomic");
  };
}

function keys(...names: readonly string[]): ListRule {
  return {
    keys: names.map((name) => {
      const [field = "", otherwise] = name.split("=");
      return otherwise === undefined ? { name: field } : { name: field, otherwise };
    }),
  };
}

const METADATA: Readonly<Record<string, ListRule>> = { finalizers: "set", ownerReferences: keys("uid") };

const OWN_LISTS: ReadonlyMap<string, Readonly<Record<string, ListRule>>> = new Map([
  ["Shoot.core.gardener.cloud", { "spec.provider.workers": keys("name") }],
  ["ControllerRegistration.core.gardener.cloud", { "spec.resources": keys("kind", "type") }],
]);

const byName = keys("name");

/** By the name of the field, or by that of the one above, too. */
const BUILT_IN: Readonly<Record<string, ListRule>> = {
  conditions: keys("type"),
  containers: byName,
  initContainers: byName,
  ephemeralContainers: byName,
  volumes: byName,
  env: byName,
  imagePullSecrets: byName,
  secrets: byName,
  webhooks: byName,
  volumeMounts: keys("mountPath"),
  volumeDevices: keys("devicePath"),
  hostAliases: keys("ip"),
  topologySpreadConstraints: keys("topologyKey", "whenUnsatisfiable"),
  "containers.ports": keys("containerPort", "protocol=TCP"),
  "initContainers.ports": keys("containerPort", "protocol=TCP"),
  "spec.ports": keys("port", "protocol=TCP"),
  podCIDRs: "set",
  finalizers: "set",
};
