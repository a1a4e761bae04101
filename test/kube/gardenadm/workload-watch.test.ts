import { randomUUID } from "node:crypto";
import { afterEach, expect } from "vitest";
import { CloudProfile, Shoot } from "../../../src/api/index.ts";
import { WORKLOADS_CHECKSUM_ANNOTATION } from "../../../src/api/annotations.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { ensureSecrets } from "../../../src/activities/secrets/secrets.ts";
import { clusterObject, nodeAgentSecretName } from "../../../src/components/index.ts";
import { readClusterContext } from "../../../src/gardenadm/cluster/control-plane.ts";
import { manifestPods } from "../../../src/gardenadm/node-agent/manifests.ts";
import { readMachineOrder } from "../../../src/gardenadm/cluster/machine-order.ts";
import { watchWorkloads } from "../../../src/gardenadm/node-agent/workload-watch.ts";
import { orderMachines } from "../../../src/gardenadm/cluster/roll-out.ts";
import { takeTurn } from "../../../src/gardenadm/cluster/turn.ts";
import { Deployment, Event, Node, refTo, Secret, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { filesFor } from "../../../src/node-agent/wanted.ts";
import { controlPlanePool } from "../../../src/self-hosted/machine-config.ts";
import { test } from "../../support/cluster-test.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { eventually } from "../../support/eventually.ts";

/** The workloads of a control plane on two nodes, as `gardenadm init` leaves them, and the agents' watches. */
const namespace = "kube-system";
const log = createLogger({ name: "test", level: "silent" });
const apiServer = refTo(Deployment, { namespace, name: "kube-apiserver" });
const scope = { signal: new AbortController().signal, tell: () => {} };
let client: KubeClient;
let secretName: string;
const running: (() => Promise<void>)[] = [];

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  const [shoot, , cloudProfile] = exampleConfiguration();
  const made = { shoot: Shoot.parse({ ...shoot, metadata: { name: "root", namespace: "garden", uid: randomUUID() } }) };
  await client.apply(clusterObject({ ...made, namespace, cloudProfile: CloudProfile.parse(cloudProfile) }));
  for (const [index, name] of ["a", "b"].entries()) {
    await client.apply<Node>({ ...typeMeta(Node), metadata: { name, labels: { [CONTROL_PLANE_LABEL]: "" } } });
    const status = { addresses: [{ type: "InternalIP", address: `10.0.0.${index + 1}` }] };
    await client.patch(refTo(Node, { name }), { status }, { subresource: "status" });
  }
  const context = await readClusterContext(client);
  secretName = nodeAgentSecretName(context, controlPlanePool(context));
  await ensureSecrets(client, context);
  await orderMachines(client, await readClusterContext(client), "control-plane");
});

afterEach(async () => {
  for (const end of running.splice(0)) await end();
});

test("what stands there after a change becomes the static pod, once, whatever number of nodes watches", async () => {
  const before = await order();
  start("a");
  start("b");
  await change("--v=3");
  const after = await eventually(async () => {
    const found = await order();
    expect(commandOf(found.secret)).toContain("--v=3");
    return found;
  });
  expect(after.generationOfWorkloads).not.toBe(before.generationOfWorkloads);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect((await order()).secret.metadata.resourceVersion).toBe(after.secret.metadata.resourceVersion);
  const changed = pathsThatDiffer(before.secret, after.secret);
  expect(changed).toEqual(["/etc/kubernetes/manifests/kube-apiserver.yaml"]);
  for (const node of ["a", "b"]) {
    const [one, other] = [before, after].map(({ secret }) => filesFor(readMachineOrder(secret).config, node).length);
    expect(one).toBe(other);
  }
});

test("init finds nothing to do after it", async () => {
  start("a");
  await change("--v=5");
  await eventually(async () => expect(commandOf((await order()).secret)).toContain("--v=5"));
  const { checksum } = await order();
  await orderMachines(client, await readClusterContext(client), "control-plane");
  expect(commandOf((await order()).secret), "what others own stays").toContain("--v=5");
  expect((await order()).checksum).toBe(checksum);
});

test("while a command changes the control plane, it waits", async () => {
  const turn = await takeTurn(client, { hostName: "c", root: "/nowhere" }, scope);
  start("a");
  await change("--v=6");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(commandOf((await order()).secret)).not.toContain("--v=6");
  await turn.end();
  await eventually(async () => expect(commandOf((await order()).secret)).toContain("--v=6"));
});

test("what no static pod can be made of is said at its workload, and changes nothing", async () => {
  const before = await order();
  start("a");
  const volume = { name: "claim", persistentVolumeClaim: { claimName: "none" } };
  await client.patch(apiServer, [{ op: "add", path: "/spec/template/spec/volumes/-", value: volume }]);
  await eventually(async () => {
    const events = await client.list(Event, { namespace });
    expect(events.map(({ note }) => note)).toContainEqual(expect.stringContaining("volume claim is of sort"));
  });
  expect((await order()).secret.metadata.resourceVersion).toBe(before.secret.metadata.resourceVersion);
});

function start(hostName: string): void {
  const stop = new AbortController();
  const ended = watchWorkloads({ client, secretName, hostName, log, recheck: 200 }, stop.signal);
  running.push(async () => {
    stop.abort();
    await ended;
  });
}

/** As a webhook or an extension changes it: beside what we write. */
async function change(flag: string): Promise<void> {
  await client.patch(apiServer, [{ op: "add", path: "/spec/template/spec/containers/0/args", value: [flag] }]);
}

async function order() {
  const secret = (await client.read(Secret, { namespace, name: secretName })) ?? expect.fail("there is no Secret");
  const { annotations = {} } = secret.metadata;
  const { checksum } = readMachineOrder(secret);
  return { secret, checksum, generationOfWorkloads: annotations[WORKLOADS_CHECKSUM_ANNOTATION] };
}

function commandOf(secret: Secret): string {
  const { config } = readMachineOrder(secret);
  expect(manifestPods(config, "a").map(({ name }) => name)).toContain("kube-apiserver");
  return textAt(secret, "/etc/kubernetes/manifests/kube-apiserver.yaml");
}

function textAt(secret: Secret, path: string): string {
  const { files = [] } = readMachineOrder(secret).config.spec;
  const inline = files.find((file) => file.path === path)?.content.inline;
  return Buffer.from(inline?.data ?? "", "base64").toString();
}

function pathsThatDiffer(one: Secret, other: Secret): string[] {
  const filesOf = (secret: Secret) =>
    new Map(
      (readMachineOrder(secret).config.spec.files ?? []).map((file) => [
        `${file.path} ${file.hostName ?? ""}`.trim(),
        JSON.stringify(file),
      ]),
    );
  const [before, after] = [filesOf(one), filesOf(other)];
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
}
