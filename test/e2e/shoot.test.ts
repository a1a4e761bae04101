import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { ConfigMap, createKubeClient, Node, Pod, refTo, Service, type KubeClient } from "../../src/kube/index.ts";
import { helloImage } from "../../src/local/image/images.ts";
import { applyWords, createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { findShootRemains } from "../support/shoot-remains.ts";

let local: LocalEnvironment;
let shoot: TestShoot;
let cluster: KubeClient;
let machine = "";

beforeAll(async () => void (local = await localEnvironment()));
afterAll(async () => {
  await cluster?.close();
  await local?.close();
});

describe("a Shoot", () => {
  test("is created, and its status shows how far it is", async () => {
    const begin = performance.now();
    await applyWords(local);
    shoot = await createShoot(local, { name: "main", extended: true });
    const { status } = await shoot.settles("Succeeded", "Create");
    console.log(`created in ${seconds(begin)} s`);
    expect(status).toMatchObject({ technicalID: shoot.technicalID, observedGeneration: 1, uid: shoot.ref.uid });
    expect(status?.lastOperation).toMatchObject({ progress: 100 });
    expect(status?.lastErrors ?? []).toEqual([]);
    const described = await local.perennial("shoot", "describe", "garden-dev/main");
    expect(described).toMatch(/Last operation: +Create Succeeded \(100%\)/);
    const shown = await local.perennial("flow", "show", "garden-dev/main");
    expect(shown).toMatch(/nodesReady +done/);
    expect(await findShootRemains(local, shoot)).toEqual(expect.arrayContaining([`Namespace ${shoot.technicalID}`]));
  });

  test("has nodes, as its own kube-apiserver says to holders of the published kubeconfig", async () => {
    const kubeconfig = join(local.environment.stateDir, "main.yaml");
    await writeFile(kubeconfig, await local.perennial("shoot", "kubeconfig", "garden-dev/main"), { mode: 0o600 });
    cluster = createKubeClient({ file: kubeconfig }, { log: local.log });
    const nodes = await cluster.list(Node);
    [machine = ""] = nodes.map(({ metadata }) => metadata.name);
    expect(nodes).toHaveLength(1);
    expect(nodes[0]?.status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    expect((await local.machines.list()).map(({ name }) => name)).toContain(machine);
  });

  test("has what its Extensions and its container runtime make, each in its place, and knows which cluster it is", async () => {
    const beside = { namespace: shoot.technicalID, name: "local-note-seed" };
    const noteOf = async (client: KubeClient, key: { namespace: string; name: string }) =>
      (await client.read(ConfigMap, key))?.data;
    expect(await noteOf(local.seedClient, beside)).toMatchObject({ text: "from the garden" });
    const inShoot = { namespace: "kube-system", name: "local-note-shoot" };
    expect(await noteOf(cluster, inShoot)).toMatchObject({ text: "from the garden" });
    const forNodes = { namespace: "kube-system", name: "local-note-nodes" };
    expect(await noteOf(cluster, forNodes)).toMatchObject({ text: "of its own", pools: "worker" });
    const { clusterIdentity } = (await shoot.read())?.status ?? {};
    expect(clusterIdentity).toContain(`${shoot.technicalID}-${shoot.ref.uid}-`);
    const identity = await noteOf(cluster, { namespace: "kube-system", name: "cluster-identity" });
    expect(identity).toEqual({ "cluster-identity": clusterIdentity, origin: "shoot" });
  });

  test("runs a user's Deployment on its node, behind a Service that its DNS knows", async () => {
    for (const object of userObjects()) await cluster.apply(object, { fieldManager: "test" });
    const pod = await eventually(async () => {
      const [pod] = await cluster.list(Pod, { namespace: "app" });
      if (pod?.status?.phase === "Running") return pod;
      throw new Error(`the pod does not run: ${JSON.stringify(pod?.status)}`);
    }, 60_000);
    expect(pod.spec.nodeName).toBe(machine);
    const service = await cluster.read(Service, { namespace: "app", name: "hello" });
    const dns = await cluster.list(Service, { labelSelector: "k8s-app=kube-dns" });
    const { clusterIP = "" } = service?.spec ?? {};
    await eventually(async () => {
      const server = `@${dns[0]?.spec.clusterIP}`;
      expect(await onNode("dig", "+short", "+time=1", "+tries=1", server, "hello.app.svc.cluster.local")).toBe(
        clusterIP,
      );
    }, 60_000);
    await eventually(async () => {
      const answer = await onNode("curl", "--silent", "--max-time", "2", `http://${clusterIP}`);
      expect(answer).toBe(`hello from ${pod.metadata.name}`);
    });
    const log = `/api/v1/namespaces/app/pods/${pod.metadata.name}/log`;
    expect(await cluster.get(log)).toContain("GET");
  });

  test("is deleted: first what its users made, then the rest, and nothing is left of it", async () => {
    const begin = performance.now();
    await shoot.remove();
    await shoot.begun("cleanKubernetesResources");
    await eventually(async () => {
      const left = await cluster.list(Pod, { namespace: "app" });
      expect(left).toEqual([]);
    }, 60_000);
    // What a user's finalizer holds, holds the Shoot: its machine has to go on working.
    expect((await local.machines.list()).map(({ name }) => name)).toContain(machine);
    expect((await shoot.progress())?.steps).toContainEqual(
      expect.objectContaining({ name: "removeWorker", state: "pending" }),
    );
    await cluster.patch(ledger, { metadata: { finalizers: null } });
    await shoot.gone();
    console.log(`deleted in ${seconds(begin)} s`);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]));
  });
});

const ledger = refTo(ConfigMap, { namespace: "app", name: "ledger" });

function userObjects(): KubeObject[] {
  const labels = { app: "hello" };
  const metadata = { name: "hello", namespace: "app", labels };
  const runtimeClassName = "local-runc";
  const container = { name: "hello", image: helloImage, ports: [{ containerPort: 8080 }] };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "app" } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: ledger.name, namespace: "app", finalizers: ["example.com/ledger"] },
    },
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { runtimeClassName, containers: [container] } },
      },
    },
    {
      ...{ apiVersion: "v1", kind: "Service", metadata },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}

/** Runs a program of this host in the network of the Shoot's machine. */
async function onNode(command: string, ...args: readonly string[]): Promise<string> {
  const netns = `${local.environment.name}.${machine}`;
  const { stdout } = await execa("ip", ["netns", "exec", netns, command, ...args], { reject: false });
  return stdout.trim();
}

function seconds(begin: number): string {
  return ((performance.now() - begin) / 1_000).toFixed(1);
}
