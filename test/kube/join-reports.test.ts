import { expect } from "vitest";
import { findNodeTrouble } from "../../src/activities/waits/node-trouble.ts";
import { Worker } from "../../src/api/index.ts";
import { MACHINE_NAMESPACE_LABEL } from "../../src/api/labels.ts";
import { openGuard } from "../../src/extension/index.ts";
import { Node, refTo, typeMeta } from "../../src/kube/index.ts";
import type { MachineStatus } from "../../src/local/machine/machine.ts";
import { createLogger } from "../../src/log.ts";
import { createJoinReports } from "../../src/provider-local/worker/join-reports.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { namespace, pool } from "../support/worker-pools.ts";

const machineNames = ["joined", "silent", "refused"];
const machines = machineNames.map((name): MachineStatus => ({
  ...{ name, address: "172.30.0.7", providerID: `local:///${name}`, running: true, createdAt: "2026-01-01T00:00:00Z" },
  labels: { [MACHINE_NAMESPACE_LABEL]: namespace },
}));
const logs: Readonly<Record<string, string>> = {
  refused:
    "I1129 10:00:00.000001    7 kubelet.go:1] Starting\n" +
    'E1129 10:00:01.000002    7 kubelet_node_status.go:107] "Unable to register node" err="nodes is forbidden, password=hunter2"\n' +
    "I1129 10:00:02.000003    7 kubelet.go:2] Waiting\n",
};

test("machines that do not join are reported with what their kubelets complain of, until they have joined", async ({
  cluster: { client },
}) => {
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await client.create<Worker>({
    ...typeMeta(Worker),
    metadata: { namespace, name: "pools" },
    spec: {
      ...{ type: "local", region: "local", secretRef: { name: "cloudprovider" }, infrastructureProviderStatus: {} },
      pools: [pool()],
    },
  });
  const join = (name: string) => client.create({ apiVersion: "v1", kind: "Node", metadata: { name } });
  const read = async () => await client.read(Worker, { namespace, name: "pools" });
  await join("joined");
  const listed: string[] = [];
  const shoot = {
    ...client,
    list: (...args: Parameters<typeof client.list>) => (listed.push("list"), client.list(...args)),
  };
  const reports = createJoinReports({
    client,
    machines: { list: async () => machines, kubeletLog: async (name) => logs[name] ?? "" },
    shoots: { open: async () => shoot as typeof client },
    guard: openGuard,
    log: createLogger({ name: "test", level: "silent" }),
    ...{ period: 20, grace: 100 },
  });
  reports.start();
  const message =
    'machine silent has not joined; machine refused has not joined, its kubelet\'s last words: "Unable to register node" ' +
    'err="nodes is forbidden, password=[redacted]"';
  await eventually(async () =>
    expect((await read())?.status?.conditions).toMatchObject([
      { type: "EveryNodeReady", status: "False", reason: "MachinesNotJoined", message },
    ]),
  );
  const trouble = await findNodeTrouble({ shootClient: client, seedClient: client, namespace });
  expect(trouble).toEqual({ about: "machines", message, codes: [] });

  for (const name of ["silent", "refused"]) await join(name);
  await eventually(async () => expect((await read())?.status?.conditions).toMatchObject([{ status: "True" }]));
  const count = listed.length;
  await client.remove(refTo(Node, { name: "joined" }));
  await new Promise((resolve) => setTimeout(resolve, 200)); // ten rounds or so
  expect(listed).toHaveLength(count); // a machine that has joined once costs nothing
  await reports.stop();
});
