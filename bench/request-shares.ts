import { refOf, type KubeClient } from "../src/kube/index.ts";

/** Whose requests are told apart: a ServiceAccount, a user or a group by name. */
export type Caller =
  | { readonly account: { readonly namespace: string; readonly name: string } }
  | { readonly user: string }
  | { readonly group: string };

/** Counts requests at an API server, by who sent them. */
export interface RequestShares {
  /** Requests since the server began to tell, by the caller's name here; all others by the server's own schemas. */
  count(): Promise<Readonly<Record<string, number>>>;
  /** Takes away what has the server tell callers apart. */
  close(): Promise<void>;
}

/**
 * Has an API server count the requests of each caller: a FlowSchema of its own, into the priority that it would mostly have
 * anyway, because servers count by schema. Group `system:masters` cannot be told apart: it is `exempt`.
 */
export async function countShares(
  client: KubeClient,
  callers: Readonly<Record<string, readonly Caller[]>>,
): Promise<RequestShares> {
  const schemas = Object.entries(callers)
    .filter(([, subjects]) => subjects.length > 0)
    .map(([name, subjects]) => flowSchema(name, subjects));
  for (const schema of schemas) await client.apply(schema);
  return {
    async count() {
      const counted: Record<string, number> = Object.fromEntries(Object.keys(callers).map((name) => [name, 0]));
      for (const [, schema = "", value] of String(await client.get("/metrics")).matchAll(dispatched)) {
        const name = schema.startsWith(PREFIX) ? schema.slice(PREFIX.length) : `(${schema})`;
        counted[name] = (counted[name] ?? 0) + Number(value);
      }
      return counted;
    },
    close: async () => void (await Promise.all(schemas.map((schema) => client.remove(refOf(schema))))),
  };
}

/** How many requests a minute lie between two counts, `seconds` apart. */
export const perMinute = (
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  seconds: number,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, ((count - (before[name] ?? 0)) * 60) / seconds]),
  );

const PREFIX = "bench-";

const dispatched = /^apiserver_flowcontrol_dispatched_requests_total\{flow_schema="([^"]+)"[^}]*\} (\S+)$/gm;

function flowSchema(name: string, callers: readonly Caller[]) {
  const anything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] };
  const subjects = callers.map((caller) => {
    if ("user" in caller) return { kind: "User", user: { name: caller.user } };
    if ("group" in caller) return { kind: "Group", group: { name: caller.group } };
    return { kind: "ServiceAccount", serviceAccount: caller.account };
  });
  return {
    ...{ apiVersion: "flowcontrol.apiserver.k8s.io/v1", kind: "FlowSchema", metadata: { name: PREFIX + name } },
    spec: {
      matchingPrecedence: 90, // before all but what is exempt
      priorityLevelConfiguration: { name: "workload-high" },
      rules: [{ subjects, resourceRules: [anything], nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }] }],
    },
  };
}
