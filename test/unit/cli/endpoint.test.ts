import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import type { Context } from "../../../src/cli/context.ts";
import { describe } from "../../../src/cli/endpoint/describe.ts";
import { list } from "../../../src/cli/endpoint/list.ts";
import { plan } from "../../../src/cli/endpoint/plan.ts";
import { KubeError, type KubeClient } from "../../../src/kube/index.ts";
import { clusterOf, endpointOf, owners } from "../../support/cluster-endpoints.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const options = { namespace: undefined, output: undefined, kubeconfig: undefined };
const value = { host: "api.example.com", port: 443 };
const serving = {
  ...{ type: "Serving", status: "True" as const, reason: "Answers", message: "api.example.com:443 answers" },
  lastTransitionTime: "2026-11-21T10:00:00Z",
};

const objects: readonly KubeObject[] = [
  clusterOf(value),
  endpointOf({ name: "third", ...value, status: { conditions: [serving] } }),
  endpointOf({ name: "infra", host: "10.0.0.1", owner: "infrastructure" }),
];

/** A management cluster with these objects; of a kubeconfig that names namespace `fleet`, whose user may `list` in these namespaces only. */
function contextOf(found: readonly KubeObject[], readable?: readonly string[]) {
  const terminal = fakeTerminal();
  const types = Object.values(owners).map(({ apiVersion, kind }) => ({ apiVersion, kind }));
  const client = {
    types: async () => types,
    list: async ({ kind }: { kind: string }, { namespace }: { namespace?: string } = {}) => {
      if (readable !== undefined && !readable.includes(namespace ?? ""))
        throw new KubeError("cannot list", { status: 403, reason: "Forbidden", retryable: false });
      const isMeant = (one: KubeObject) => namespace === undefined || one.metadata.namespace === namespace;
      return found.filter((one) => one.kind === kind && isMeant(one));
    },
    read: async ({ kind }: { kind: string }, { name }: { name: string }) =>
      found.find((one) => one.kind === kind && one.metadata.name === name),
  } as unknown as KubeClient;
  const unasked = () => Promise.reject(new Error("no verb here asks for this"));
  const context: Context = {
    ...{ terminal, variables: {}, signal: new AbortController().signal, now: () => Date.parse("2026-11-21T10:01:00Z") },
    management: async () => ({ client, namespace: "fleet" }),
    ...{
      garden: unasked,
      seed: unasked,
      processes: unasked,
      flows: unasked,
      leaders: unasked,
      installations: unasked,
      gardenRegister: unasked,
    },
  };
  return { context, terminal };
}

test("the list says of all candidates which one wins, whose it is, and since when it serves", async () => {
  const { context, terminal } = contextOf(objects);
  await list.run({ args: {}, options, context });
  const [head, third, infra] = terminal.out.text().split("\n");
  expect(head).toMatch(/^NAMESPACE +CLUSTER +NAME +ENDPOINT +WINS +SERVES +SINCE +OBJECT/);
  expect(third).toMatch(/^fleet +foo +third +api.example.com:443 +yes +yes +60s +of a third party/);
  expect(infra).toMatch(/^fleet +foo +infra +10.0.0.1:443 +no +unknown +<none> +of the infrastructure/);
});

test("a description says why one candidate wins and the other does not", async () => {
  const { context, terminal } = contextOf(objects);
  await describe.run({ args: { cluster: "foo" }, options, context });
  const said = terminal.out.text().replaceAll(/\s+/g, " ");
  expect(said).toContain("Cluster: fleet/foo Endpoint: api.example.com:443 Comes from: ClusterEndpoint third");
  expect(said).toContain(
    "Candidate: ClusterEndpoint third, of a third party Endpoint: api.example.com:443 Wins: yes: it goes before all others",
  );
  expect(said).toContain("Serves: yes: api.example.com:443 answers, for 60s (since ");
  expect(said).toContain(
    "Wins: no: ClusterEndpoint third wins: an object of a third party goes before one of the infrastructure",
  );
  await expect(describe.run({ args: { cluster: "none" }, options, context })).rejects.toThrow(
    `Cluster "none" has no endpoint and no ClusterEndpoint: see`,
  );
  await expect(describe.run({ args: { cluster: "fleet/none" }, options, context })).rejects.toThrow(
    `Cluster "none" has no endpoint and no ClusterEndpoint in namespace "fleet": see`,
  );
});

const inNamespace = (namespace: string) => {
  const cluster = clusterOf(value);
  return { ...cluster, metadata: { ...cluster.metadata, namespace } };
};

/** What is said of `foo`, which there is in these namespaces. */
async function describeIn(namespaces: readonly string[], o: { cluster?: string; namespace?: string } = {}) {
  const { context, terminal } = contextOf(namespaces.map(inNamespace));
  const { cluster = "foo", namespace } = o;
  await describe.run({ args: { cluster }, options: { ...options, namespace }, context });
  return terminal.out.text();
}

test("a description is of the Cluster in the kubeconfig's namespace, else of the only one of that name, else it asks which", async () => {
  expect(await describeIn(["elsewhere"])).toContain("elsewhere/foo");
  expect(await describeIn(["elsewhere", "fleet"])).toContain("fleet/foo");
  expect(await describeIn(["elsewhere", "fleet"], { namespace: "elsewhere" })).toContain("elsewhere/foo");
  await expect(describeIn(["elsewhere", "other"])).rejects.toThrow(
    'say which Cluster "foo" you mean: it exists in elsewhere, other; add -n NAMESPACE',
  );
  await expect(describeIn(["fleet"], { cluster: "fleet/foo", namespace: "other" })).rejects.toThrow(
    '-n other contradicts "fleet/foo": name the namespace once',
  );
});

test("a user who may read only the kubeconfig's namespace sees the Clusters there, and hears of no other", async () => {
  const { context, terminal } = contextOf([inNamespace("fleet")], ["fleet"]);
  await describe.run({ args: { cluster: "foo" }, options, context });
  expect(terminal.out.text()).toContain("fleet/foo");
  await expect(describe.run({ args: { cluster: "none" }, options, context })).rejects.toThrow(
    'Cluster "none" has no endpoint and no ClusterEndpoint in namespace "fleet"',
  );
});

test("a description of a lone candidate does not speak of others", async () => {
  const { context, terminal } = contextOf(objects.slice(0, 2));
  await describe.run({ args: { cluster: "foo" }, options, context });
  expect(terminal.out.text()).toMatch(/Wins: +yes: it is the only candidate/);
});

test("an endpoint without a Cluster wins nothing", async () => {
  const { context, terminal } = contextOf(objects.slice(1, 2));
  await list.run({ args: {}, options: { ...options, output: "wide" }, context });
  expect(terminal.out.text()).toMatch(/third .* no .*there is no Cluster foo in this namespace/);
});

test("a plan says which objects taking over makes, who owns them, and warns of each field in use", async () => {
  const { apiVersion, kind, name, uid } = owners.infrastructure;
  const infrastructure = {
    apiVersion,
    kind,
    metadata: { name, namespace: "fleet", uid },
    spec: { controlPlaneEndpoint: value },
  };
  const { context, terminal } = contextOf([clusterOf(value), infrastructure]);
  await plan.run({ args: {}, options: { ...options, output: "wide" }, context });
  const [head, foo] = terminal.out.text().split("\n");
  expect(head).toMatch(/^CLUSTER +CREATES +ENDPOINT +OWNER +WARNING/);
  expect(foo).toMatch(
    /^fleet\/foo +ClusterEndpoint foo +api.example.com:443 +FooCluster foo +spec.controlPlaneEndpoint of FooCluster fleet\/foo is deprecated/,
  );
});

test("a plan says its warnings below the table, so that names have room in 80 columns", async () => {
  const { context, terminal } = contextOf([clusterOf(value)]);
  await plan.run({ args: {}, options, context });
  const [head, , ...warnings] = terminal.out.text().split("\n");
  expect(head).toMatch(/^CLUSTER +CREATES +ENDPOINT +OWNER$/);
  expect(warnings.slice(0, 2)).toEqual(["", "fleet/foo"]);
  expect(warnings[2]).toMatch(/^ {2}spec.controlPlaneEndpoint of Cluster fleet\/foo is deprecated/);
});

test("a plan has nothing for a Cluster that has its object, or no endpoint", async () => {
  for (const found of [objects, [clusterOf()]]) {
    const { context, terminal } = contextOf(found);
    await plan.run({ args: {}, options, context });
    expect(terminal.out.text()).toBe("");
    expect(terminal.err.text()).toContain("Nothing to take over");
  }
});
