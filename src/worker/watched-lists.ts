import { toJudgedWebhook, type JudgedWebhook } from "../activities/shoot/judged-webhooks.ts";
import type { PoolSize } from "../activities/shoot/health.ts";
import {
  ETCD_REPLACED_ANNOTATION,
  IGNORE_RESOURCE_ANNOTATION,
  SCALED_DOWN_BY_WATCHDOG_ANNOTATION,
} from "../api/annotations.ts";
import type { TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { createReflector, type KubeClient, type Reflector, type Selection } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { inTime } from "./in-time.ts";

/** Lists that cost one request, however often they are asked for: from then on a watch keeps them up to date. */
export interface WatchedLists extends Pick<KubeClient, "list"> {
  stop(): Promise<void>;
}

/**
 * The lists of a cluster, for those who look at the same again and again. Lists of several namespaces share a watch. A list
 * throws that is not there within `timeout` ms; one that has been there is as the cluster was last seen, so it is for the
 * caller to ask whether the cluster answers at all. Of a cluster that has more of a kind than `most`, in characters of JSON, there is
 * no list.
 */
export function createWatchedLists(
  client: KubeClient,
  log: Logger,
  { timeout = 10_000, most }: { readonly timeout?: number; readonly most?: number } = {},
): WatchedLists {
  const watches = new Map<string, Reflector<KubeObject>>();

  const watch = (type: TypeRef, selection: Selection): Reflector<KubeObject> => {
    const keeping = { keep: signs, ...omitUndefined({ most }) };
    const reflector = createReflector(client, type, { ...selection, ...keeping, log, onEvent: () => {} });
    reflector.start();
    return reflector;
  };

  const list = async ({ apiVersion, kind }: TypeRef, { namespace, ...selection }: Selection = {}) => {
    const key = JSON.stringify([apiVersion, kind, selection]);
    const reflector = watches.get(key) ?? watch({ apiVersion, kind }, selection);
    watches.set(key, reflector);
    const late = () => new Error(`cannot list ${kind}: the API server has not answered in time`);
    await inTime(reflector.synced(), timeout, late);
    return reflector.list(namespace);
  };
  return {
    list: list as KubeClient["list"], // an object's signs are of its own type
    stop: async () => void (await Promise.all([...watches.values()].map((reflector) => reflector.stop()))),
  };
}

/** Of an object, by what its health is judged; of a node that is a tenth. */
function signs(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const { replicas, class: ofClass, type, template, pools } = (object["spec"] ?? {}) as Looked;
  const initContainers = template?.spec?.initContainers?.map(({ name }) => ({ name }));
  const { images: _, state: _state, providerStatus: _provider, ...status } = (object["status"] ?? {}) as Bulky;
  const { annotations = {}, ...kept } = metadata;
  const told = Object.entries(annotations).filter(([name]) => judgedBy.has(name));
  return {
    apiVersion,
    kind,
    metadata: told.length === 0 ? kept : { ...kept, annotations: Object.fromEntries(told) },
    spec: omitUndefined({
      ...{ replicas, class: ofClass, type },
      template: initContainers && { spec: { initContainers } },
      pools: pools?.map(({ name, minimum }) => ({ name, minimum })),
    }),
    status,
    ...omitUndefined({ webhooks: (object["webhooks"] as readonly JudgedWebhook[] | undefined)?.map(toJudgedWebhook) }),
  };
}

/** The annotations by which an object's health is judged otherwise. */
const judgedBy = new Set([IGNORE_RESOURCE_ANNOTATION, SCALED_DOWN_BY_WATCHDOG_ANNOTATION, ETCD_REPLACED_ANNOTATION]);

/** What of a spec is looked at: of workloads, ManagedResources and extension objects. */
interface Looked {
  readonly replicas?: unknown;
  readonly class?: unknown;
  readonly type?: unknown;
  /** A Worker's. */
  readonly pools?: readonly PoolSize[];
  /** An API server with a tunnel has the end of it beside. */
  readonly template?: { readonly spec?: { readonly initContainers?: readonly { readonly name: string }[] } };
}

/** What nodes and extension objects have most of, and nothing here looks at. */
interface Bulky {
  readonly images?: unknown;
  readonly state?: unknown;
  readonly providerStatus?: unknown;
}
