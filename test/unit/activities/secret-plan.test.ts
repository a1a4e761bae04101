import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";
import { expect, test } from "vitest";
import { certificatesOf } from "../../../src/activities/secrets/plan.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

test("what manages machines has a way into the Shoot of its own, with no group's rights", () => {
  const namesOf = (context: ReturnType<typeof exampleContext>) => certificatesOf(context).map(({ name }) => name);
  const managing = exampleContext({ machines: { managerReplicas: 1, deployments: [] } });
  const more = ["machine-controller-manager", "cluster-autoscaler"];
  expect(namesOf(managing)).toEqual([...namesOf(exampleContext()), ...more]);
  for (const plan of certificatesOf(managing).slice(-2))
    expect(plan).toMatchObject({ authority: "ca-client", request: { commonName: plan.name, organizations: [] } });
});

test("a tunnel's server has a certificate for the API server's names outside, and a user that no binding knows but its own", () => {
  const namesOf = (context: ReturnType<typeof exampleContext>) => certificatesOf(context).map(({ name }) => name);
  const tunnelled = exampleContext({ tunnel: true });
  const more = ["konnectivity-server", "konnectivity-server-user"];
  expect(namesOf(tunnelled)).toEqual([...namesOf(exampleContext()), ...more]);
  const [server, user] = certificatesOf(tunnelled).slice(-2);
  expect(server?.request.hosts).toEqual([
    "172.30.128.1",
    "api.example.dev.internal.perennial.test",
    "api.example.dev.perennial.test",
  ]);
  expect(user).toMatchObject({
    ...{ authority: "ca-client", request: { commonName: "konnectivity-server-user", organizations: [] } },
    kubeconfig: { server: "https://localhost" },
  });
});

test("a Shoot with a resource manager has certificates for it: a way into the Shoot that its bindings give, and its server's", () => {
  const namesOf = (context: ReturnType<typeof exampleContext>) => certificatesOf(context).map(({ name }) => name);
  const managing = exampleContext({ managesResources: true });
  const more = ["gardener-resource-manager", "gardener-resource-manager-server"];
  expect(namesOf(managing)).toEqual([...namesOf(exampleContext()), ...more]);
  const [way, server] = certificatesOf(managing).slice(-2);
  expect(way).toMatchObject({ request: { organizations: ["gardener.cloud:system:admins"] }, kubeconfig: {} });
  expect(server?.request.hosts).toContain("gardener-resource-manager.shoot--dev--example.svc");
});

test("each node of a control plane has its own certificates, which name it and no other", () => {
  const plans = certificatesOf(selfHostedContext(["a", "b"]));
  const hostsOf = (name: string) => plans.find((plan) => plan.name === name)?.request.hosts ?? [];
  for (const name of ["etcd-server.a", "etcd-peer.a", "kube-apiserver.a"]) {
    expect(hostsOf(name), name).toEqual(expect.arrayContaining(["a", "172.31.0.1", "127.0.0.1"]));
    expect(hostsOf(name), name).not.toContain("b");
    expect(hostsOf(name), name).not.toContain("172.31.0.2");
  }
  expect(plans.find(({ name }) => name === "kubelet.b")?.request).toMatchObject({
    commonName: "system:node:b",
    organizations: ["system:nodes"],
  });
  expect(plans.map(({ name }) => name).filter((name) => ["etcd-server", "kube-apiserver"].includes(name))).toEqual([]);
});

test("what runs on a node of the control plane uses the API server of that node", () => {
  const servers = certificatesOf(selfHostedContext()).flatMap(({ kubeconfig }) => kubeconfig?.server ?? []);
  expect(new Set(servers)).toEqual(new Set(["https://localhost"]));
});
