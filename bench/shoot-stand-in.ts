import { POOL_LABEL } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/schema/meta.ts";
import type { KubeClient, ObjectRef, Selection, TypeRef } from "../src/kube/index.ts";

/**
 * Stands in for a Shoot's own API server, in this process: keeps what is applied as it is, has a ready node that runs it, and gives tokens.
 * It knows no defaults and no other writers, so that applying again changes nothing.
 */
export function createShootStandIn(): KubeClient {
  const objects = new Map<string, KubeObject>([["Node//node", node]]);
  let version = 1;
  const keyOf = ({ kind, namespace = "", name }: ObjectRef) => `${kind}/${namespace}/${name}`;
  const refOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject) =>
    keyOf({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
  const standIn = {
    server: "https://192.0.2.1",
    read: async (type: TypeRef, key?: object) => objects.get(keyOf({ ...type, ...key } as ObjectRef)),
    list: async ({ kind }: TypeRef, { labelSelector = "" }: Selection = {}) =>
      [...objects.values()].filter((object) => object.kind === kind && hasLabel(object, labelSelector)),
    snapshot: async (type: TypeRef) => ({ items: await standIn.list(type), resourceVersion: "1" }),
    async *watch(_: TypeRef, { signal }: { signal: AbortSignal }): AsyncIterable<never> {
      yield* await new Promise<never[]>((resolve) => signal.addEventListener("abort", () => resolve([])));
    },
    async apply(object: KubeObject, { dryRun = false } = {}) {
      const { resourceVersion = "1" } = objects.get(refOf(object))?.metadata ?? {};
      const metadata = { ...object.metadata, resourceVersion: dryRun ? resourceVersion : String((version += 1)) };
      const applied = { ...structuredClone(object), metadata, status: running };
      if (!dryRun) objects.set(refOf(object), applied);
      return applied;
    },
    remove: async (ref: ObjectRef) => void objects.delete(keyOf(ref)),
    createSubresource: async () => ({ status: { token: tokenForADay() } }),
    types: async () => [],
    get: async () => "ok",
    close: async () => {},
  };
  return standIn as unknown as KubeClient;
}

/** Whether the object is selected by one `label=value`, or by nothing. */
function hasLabel({ metadata: { labels = {} } }: KubeObject, selector: string): boolean {
  const [label = "", value] = selector.split("=");
  return selector === "" || labels[label] === value;
}

/** Of a workload, one pod of which runs. */
const running = { replicas: 1, updatedReplicas: 1, readyReplicas: 1 };

const node: KubeObject = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node", labels: { [POOL_LABEL]: "worker" } },
  status: { conditions: [{ type: "Ready", status: "True" }] },
};

function tokenForADay(): string {
  const iat = Math.floor(Date.now() / 1_000);
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ iat, exp: iat + 24 * 3_600 })}.none`;
}
