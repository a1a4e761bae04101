import { createServer } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { issueAuthority, issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { operatingSystemConfigs, poolsOf } from "../../../src/components/index.ts";
import { stateAt } from "../../../src/gardenadm/node-agent/certificate.ts";
import { readAgentConfiguration } from "../../../src/gardenadm/machine/agent-configuration.ts";
import { readMachineOrder } from "../../../src/gardenadm/cluster/machine-order.ts";
import { manifestPods, type ManifestPod } from "../../../src/gardenadm/node-agent/manifests.ts";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { podsReady } from "../../../src/gardenadm/node-agent/readiness.ts";
import { dueCertificates } from "../../../src/gardenadm/machine/certificates.ts";
import { controlPlaneMachines } from "../../../src/self-hosted/machine-config.ts";
import { twoPoolContext } from "../../support/node-access.ts";
import { controlPlaneObjects } from "../../support/self-hosted-control-plane.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "perennial-agent-"));
});
afterEach(async () => await rm(root, { recursive: true }));

const day = 86_400_000;

describe("the configuration of a pool's machines", () => {
  const context = twoPoolContext();
  const reconciles = poolsOf(context).map((pool) => operatingSystemConfigs(context, pool)[1]);

  test("brings gardenadm's own agent, and no other", () => {
    for (const config of reconciles) {
      const units = (config?.spec.units ?? []).filter(({ name }) => name === "gardener-node-agent.service");
      expect(units.map(({ content }) => content)).toEqual([
        expect.stringContaining("ExecStart=/opt/gardenadm/bin/start gardenadm/node-agent"),
      ]);
      expect(JSON.stringify(config)).not.toContain("/opt/bin/gardener-node-agent");
    }
  });

  test("tells the agent of a control-plane node to use its own API server, and leaves a worker what it joined with", async () => {
    const [controlPlane, worker] = reconciles;
    const paths = worker?.spec.files?.map(({ path }) => path) ?? [];
    expect(paths).toContain("/var/lib/gardener-node-agent/pool.yaml");
    expect(paths).not.toContain("/var/lib/gardener-node-agent/config.yaml");
    for (const { path, content } of controlPlane?.spec.files ?? [])
      if (path.startsWith("/var/lib/gardener-node-agent/")) {
        await mkdir(join(root, "/var/lib/gardener-node-agent"), { recursive: true });
        await writeFile(join(root, path), content.inline?.data ?? "");
      }
    expect(await readAgentConfiguration(agentPlacesIn(root))).toEqual({
      server: "https://localhost",
      caFile: "/var/lib/gardener-node-agent/cluster-ca.crt",
      pool: "cp",
      role: "control-plane",
      secretName: expect.stringMatching(/^gardener-node-agent-cp-/),
    });
  });

  test("says by its manifests which static pods run, and where each says that it is ready", () => {
    const { workloads, objects } = controlPlaneObjects(context);
    const { config, pods } = controlPlaneMachines(context, { workloads, objects });
    const found = manifestPods(config, "a");
    expect(found.map(({ name, hash }) => ({ name, hash }))).toEqual(
      pods.map(({ pod, hash }) => ({ name: pod.metadata.name, hash })),
    );
    const urls = Object.fromEntries(found.map(({ name, readyAt }) => [name, readyAt]));
    expect(urls["kube-apiserver"]).toEqual(["https://127.0.0.1:443/readyz"]);
    expect(urls["etcd-main"]).toEqual(["http://127.0.0.1:2381/readyz"]);
  });
});

describe("what an agent is told", () => {
  test.for([
    ["config.yaml is missing", undefined, { role: "worker" }, "cannot read"],
    ["the server is not https", { server: "http://a", caFile: "/ca" }, { role: "worker" }, 'server "http://a"'],
    ["the role is unknown", { server: "https://a", caFile: "/ca" }, { role: "king" }, 'role "king"'],
    ["there is no Secret's name", { server: "https://a", caFile: "/ca" }, { role: "worker" }, "secretName is missing"],
  ] as const)("is refused where %s", async ([, config, pool, words]) => {
    const places = agentPlacesIn(root);
    await mkdir(join(root, "/var/lib/gardener-node-agent"), { recursive: true });
    if (config !== undefined) await writeFile(places.configuration, stringify(config));
    await writeFile(places.pool, stringify(pool));
    await expect(readAgentConfiguration(places)).rejects.toThrow(words);
  });

  test.for([
    ["without osc.yaml", {}, { "checksum/data-script": "1" }],
    ["without a checksum", { "osc.yaml": "e30=" }, {}],
    ["with something else in it", { "osc.yaml": "e30=" }, { "checksum/data-script": "1" }],
  ] as const)("is refused by a Secret %s", ([, data, annotations]) => {
    const metadata = { name: "s", namespace: "kube-system", annotations };
    expect(() => readMachineOrder({ apiVersion: "v1", kind: "Secret", metadata, data })).toThrow("kube-system/s");
  });
});

describe("a certificate", () => {
  test("is due when 80 % of its life are over, and of no use when all is", async () => {
    const now = Date.now();
    const authority = await issueAuthority("x", new Date(now));
    const { certificate } = await issueCertificate(authority, { commonName: "y", usages: ["client"] }, new Date(now));
    expect([0, 291, 293, 364, 366].map((days) => stateAt(certificate, now + days * day))).toEqual([
      "good",
      "good",
      "due",
      "due",
      "gone",
    ]);
  });

  test("of the control plane is found when it is due, and one of a kubelet never", async () => {
    const now = Date.now();
    const authority = await issueAuthority("x", new Date(now));
    const { certificate } = await issueCertificate(authority, { commonName: "y", usages: ["server"] }, new Date(now));
    for (const file of [
      "/var/lib/static-pods/etcd-main/tls/tls.crt",
      "/var/lib/kubelet/pki/kubelet-client-current.pem",
    ]) {
      await mkdir(join(root, file, ".."), { recursive: true });
      await writeFile(join(root, file), certificate);
    }
    expect(await dueCertificates(root, now + 290 * day)).toEqual([]);
    expect(await dueCertificates(root, now + 300 * day)).toEqual(["/var/lib/static-pods/etcd-main/tls/tls.crt"]);
  });
});

describe("static pods", () => {
  test("are ready when they run and say so, and until then what is missing is told", async () => {
    let status = 500;
    const server = createServer((_, answer) => void answer.writeHead(status).end()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const told: string[] = [];
    const tell = (missing: string) => {
      told.push(missing);
      status = 200;
    };
    await podsReady([podAt(port)], { node: "n", ctr: containerd }, { tell });
    server.close();
    expect(told).toEqual([`static pod p is not ready: http://127.0.0.1:${port}/readyz answers with status 500`]);
  });

  test("that never are end with what was missing at last", async () => {
    const signal = AbortSignal.timeout(300);
    const waiting = podsReady([podAt(1)], { node: "n", ctr: containerd }, { signal });
    await expect(waiting).rejects.toThrow("static pod p is not ready: http://127.0.0.1:1/readyz");
  });

  const podAt = (port: number): ManifestPod => ({
    ...{ namespace: "kube-system", name: "p", hash: "h", containers: ["c"] },
    readyAt: [`http://127.0.0.1:${port}/readyz`],
  });
});

/** A containerd that runs one static pod, `p` of node `n`. */
async function containerd(args: readonly string[]): Promise<string> {
  const words = args.slice(2).join(" ");
  if (words === "containers list --quiet") return "s\nc\n";
  if (words === "tasks list") return "TASK PID STATUS\ns 1 RUNNING\nc 2 RUNNING\n";
  const labels = { "io.kubernetes.pod.uid": "u", "io.kubernetes.pod.namespace": "kube-system" };
  const annotations = { "gardener.cloud/config.mirror": "h" };
  const value = Buffer.from(JSON.stringify({ Metadata: { Config: { annotations } } })).toString("base64");
  const container = { "io.kubernetes.container.name": "c", "io.cri-containerd.kind": "container" };
  const sandbox = { "io.kubernetes.pod.name": "p-n", "io.cri-containerd.kind": "sandbox" };
  return words === "containers info c"
    ? JSON.stringify({ ID: "c", Labels: { ...labels, ...container } })
    : JSON.stringify({
        ID: "s",
        Labels: { ...labels, ...sandbox },
        Extensions: { "io.cri-containerd.sandbox.metadata": { value } },
      });
}
