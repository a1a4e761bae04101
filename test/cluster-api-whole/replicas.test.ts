import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import { defineKind, Lease, Namespace, typeMeta } from "../../src/kube/index.ts";
import { clusterApiRoles } from "../support/cluster-api-rights.ts";
import { clusterApiTest as test } from "../support/cluster-api.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { createOwnProcess, type OwnProcess } from "../support/own-process.ts";

const manifest = join(import.meta.dirname, "../../deploy/cluster-api/process.yaml");

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
}

interface Manifest extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: Readonly<Record<string, unknown>>;
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly [Container] };
    };
  };
}

async function readManifest(kind: string): Promise<Manifest> {
  const objects = parseAllDocuments(await readFile(manifest, "utf8")).map((one) => one.toJS() as Manifest);
  const found = objects.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind} in ${manifest}`);
  return found;
}

const Configuration = defineKind<
  KubeObject & {
    webhooks: { clientConfig: { service: { name: string; namespace: string; path: string }; caBundle: string } }[];
  },
  "Cluster"
>({ apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration", scope: "Cluster" });

test("the Service of the process leads to the port at which its pods serve webhooks", async () => {
  const [service, deployment] = [await readManifest("Service"), await readManifest("Deployment")];
  const { metadata, spec } = deployment.spec.template;
  const [{ env, ports }] = spec.containers;
  expect(metadata.labels).toMatchObject(service.spec.selector);
  const target = ports.find(({ name }) => name === service.spec.ports?.[0]?.targetPort);
  expect(env).toContainEqual({ name: "PERENNIAL_WEBHOOK_PORT", value: String(target?.containerPort) });
  const named = `${service.metadata.namespace}/${service.metadata.name}`;
  expect(env).toContainEqual({ name: "PERENNIAL_WEBHOOK_SERVICE", value: named });
});

test("of the replicas of the manifest one leads, and each answers webhooks with the certificate that API servers were told of", async ({
  cluster,
  core,
}) => {
  expect(core.output()).not.toBe("");
  const { client } = cluster;
  await applyCrds(client);
  await client.apply({ ...typeMeta(Namespace), metadata: { name: "perennial" } });
  for (const role of await clusterApiRoles()) await client.apply(role);
  const folder = await mkdtemp(join(tmpdir(), "perennial-replicas-"));
  const kubeconfig = join(folder, "in-cluster.yaml");
  await writeFile(kubeconfig, cluster.kubeconfigOf("cluster-api"));
  const { spec } = await readManifest("Deployment");
  const { env } = spec.template.spec.containers[0];
  const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const files = { PERENNIAL_GARDEN_KUBECONFIG: kubeconfig, PERENNIAL_MANAGEMENT_KUBECONFIG: kubeconfig };
  // A pod has its address for itself.
  const addresses = Array.from({ length: spec.replicas ?? 1 }, (_, index) => `127.0.8.${index + 1}`);
  const replicas = addresses.map((host) =>
    createOwnProcess({ folder: "cluster-api", env: { ...given, ...files, PERENNIAL_WEBHOOK_HOST: host } }),
  );
  const port = Number(given["PERENNIAL_WEBHOOK_PORT"]);
  const leads = (one: OwnProcess) => one.output().includes('"leading"');
  const holder = async () =>
    (await client.read(Lease, { namespace: "perennial", name: "perennial-cluster-api" }))?.spec.holderIdentity;
  try {
    expect(replicas).toHaveLength(2);
    await Promise.all(replicas.map((one) => one.start()));
    await eventually(() => replicas.some(leads), 60_000);
    const { webhooks } = (await client.read(Configuration, { name: "perennial-cluster-api" })) ?? { webhooks: [] };
    expect(webhooks.length).toBeGreaterThan(0);
    const shown: string[] = [];
    for (const { clientConfig } of webhooks)
      for (const host of addresses) shown.push(await askOf(host, port, clientConfig));
    expect(new Set(shown).size).toBe(1);
    expect(replicas.filter(leads)).toHaveLength(1);
    const before = await holder();
    const [leader, other] = leads(replicas[0] as OwnProcess) ? replicas : replicas.toReversed();
    await leader?.kill();
    await eventually(() => other !== undefined && leads(other), 60_000);
    expect(await holder()).not.toBe(before);
    const left = addresses[replicas.indexOf(other as OwnProcess)] ?? "";
    for (const { clientConfig } of webhooks) expect(await askOf(left, port, clientConfig)).toBe(shown[0]);
  } finally {
    await Promise.all(replicas.map((one) => one.kill()));
    await rm(folder, { recursive: true });
  }
});

/** Asks a replica as an API server does through the Service; resolves to the fingerprint of what it shows once it has judged. */
async function askOf(
  host: string,
  port: number,
  {
    service,
    caBundle,
  }: {
    readonly service: { readonly name: string; readonly namespace: string; readonly path: string };
    readonly caBundle: string;
  },
): Promise<string> {
  const object = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "a", namespace: "b" },
    spec: {},
  };
  const review = {
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    request: {
      ...{ uid: "asked", operation: "UPDATE", name: "a", namespace: "b", object, oldObject: object },
      kind: { group: "cluster.x-k8s.io", version: "v1beta2", kind: "Cluster" },
      resource: { group: "cluster.x-k8s.io", version: "v1beta2", resource: "clusters" },
      userInfo: { username: "core" },
    },
  };
  return await new Promise((resolve, reject) => {
    const options = {
      host,
      port,
      path: service.path,
      method: "POST",
      ca: Buffer.from(caBundle, "base64"),
      agent: false,
    };
    const servername = `${service.name}.${service.namespace}.svc`;
    const asked = request({ ...options, servername }, (answer) => {
      const { fingerprint256 } = (answer.socket as TLSSocket).getPeerCertificate();
      let body = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      answer.on("end", () =>
        answer.statusCode === 200 && body.includes('"uid":"asked"')
          ? resolve(fingerprint256)
          : reject(new Error(`${host} answers ${answer.statusCode}: ${body}`)),
      );
    });
    asked.on("error", reject).end(JSON.stringify(review));
  });
}
