import { expect, test } from "vitest";
import { PROJECT_NAMESPACE_ANNOTATION } from "../../../src/api/annotations.ts";
import { PROJECT_NAMESPACE_LABEL } from "../../../src/api/labels.ts";
import { leadingTo, publishedKubeconfig } from "../../../src/cluster-api/control-plane/kubeconfig.ts";
import { projectNamespaceOf } from "../../../src/cluster-api/shoot/project.ts";
import { controlPlaneOf as namedBy } from "../../../src/cluster-api/shoot/cluster-parts.ts";
import { CLUSTER_NAME_LABEL, type ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { parseKubeconfig, renderKubeconfig, type Namespace } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf } from "../../support/cluster-api-objects.ts";

const own = { host: "api.one.test", port: 443 };
const published = renderKubeconfig({ server: "https://api.one.test", ca: "an authority", token: "a token" });

test("a kubeconfig stays as the garden publishes it while the Shoot's own endpoint wins, or none is complete", () => {
  for (const wins of [own, undefined, { host: "", port: 0 }, { host: "lb.test" }])
    expect(leadingTo(published, own, wins)).toBe(published);
});

test("a kubeconfig leads to another's endpoint that wins, and checks the certificate by the Shoot's own name", () => {
  const { server, cluster, user } = parseKubeconfig(leadingTo(published, own, { host: "2001:db8::1", port: 6443 }));
  expect({ server, name: cluster["tls-server-name"], token: user["token"] }).toEqual({
    server: "https://[2001:db8::1]:6443",
    name: "api.one.test",
    token: "a token",
  });
});

test.each([
  ["runs a command", "token: a token", "exec: { command: /bin/sh }"],
  ["reads a file", "token: a token", "tokenFile: /etc/passwd"],
  ["leaves the server unproved", "certificate-authority-data", "insecure-skip-tls-verify: true\n      x"],
])("a kubeconfig that a user publishes and that %s reaches neither core nor this process", (_, part, instead) => {
  const secretOf = (text: string) => ({
    ...({ apiVersion: "v1", kind: "Secret", metadata: { name: "one.kubeconfig", namespace: "garden-dev" } } as const),
    data: { kubeconfig: Buffer.from(text).toString("base64") },
  });
  const hostile = published.replace(part, instead);
  expect(hostile).not.toBe(published);
  expect(publishedKubeconfig(secretOf(hostile))).toBeUndefined();
  expect(publishedKubeconfig(secretOf(published))).toBe(published);
});

const labelled = (name: string, cluster?: string): ShootControlPlane => {
  const { metadata, ...kept } = controlPlaneOf(name);
  return { ...kept, metadata: { ...metadata, ...(cluster && { labels: { [CLUSTER_NAME_LABEL]: cluster } }) } };
};

test("a Cluster's control plane is the one that the Cluster names, whichever others bear its label", () => {
  const known = [labelled("another", "one"), labelled("one", "one"), labelled("two")];
  const controlPlanes = { get: (name: string) => known.find(({ metadata }) => metadata.name === name) };
  const nameOf = (cluster: ReturnType<typeof clusterOf>) => namedBy({ controlPlanes }, cluster)?.metadata.name;
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "ShootControlPlane", name: "one" };
  expect(nameOf(clusterOf("one"))).toBe("one");
  expect(nameOf(clusterOf("two")), "core has not joined them yet").toBeUndefined();
  expect(nameOf(clusterOf("one", { controlPlaneRef: { ...controlPlaneRef, kind: "Other" } }))).toBeUndefined();
  expect(nameOf(clusterOf("one", { controlPlaneRef: { ...controlPlaneRef, apiGroup: "other" } }))).toBeUndefined();
});

const annotated = (project?: string): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "garden-dev", ...(project && { annotations: { [PROJECT_NAMESPACE_ANNOTATION]: project } }) },
});

test.each([
  [
    "its own namespace, where the garden is the management cluster",
    true,
    annotated("garden-other"),
    undefined,
    { namespace: "garden-dev" },
  ],
  [
    "the namespace that its own is annotated with",
    false,
    annotated("garden-other"),
    undefined,
    { namespace: "garden-other" },
  ],
  ["none, where its own is not annotated", false, annotated(), undefined, { obstacle: { reason: "NoProject" } }],
  [
    "none, where another was annotated before",
    false,
    annotated("garden-other"),
    "garden-first",
    { obstacle: { reason: "ProjectChanged" } },
  ],
] as const)("the Shoot of a control plane is in %s", (_, isGarden, namespace, before, choice) => {
  const { metadata, ...kept } = controlPlaneOf("one");
  const labels = before === undefined ? {} : { [PROJECT_NAMESPACE_LABEL]: before };
  expect(projectNamespaceOf({ ...kept, metadata: { ...metadata, labels } }, { isGarden, namespace })).toMatchObject(
    choice,
  );
});
