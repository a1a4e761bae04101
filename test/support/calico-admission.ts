import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { requestToken } from "../../src/activities/control-plane/service-account-token.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { findBinary } from "./binary.ts";
import { spawnChild, type Child } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";
import { moduleFolder } from "./go-module.ts";

/**
 * Starts networking-calico's admission beside a garden's API server, with the rights and flags of its own charts; returns
 * when it is ready. Only addresses are this machine's.
 */
export async function startCalicoAdmission(directory: string, garden: ControlPlane): Promise<Child> {
  const objects = await renderCharts(directory);
  await garden.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (const object of objects.filter(({ kind }) => rights.has(kind))) await garden.client.apply(object);
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  const token = await requestToken(garden.client, account, 3600);
  const kubeconfig = join(directory, "garden.yaml");
  await writeFile(kubeconfig, garden.tokenKubeconfig.replace(/(?<=token: ).*/, token), { mode: 0o600 });
  const [port, health] = await freePorts(2);
  const here = {
    "webhook-config-server-port": `${port}`,
    "webhook-config-url": `127.0.0.1:${port}`,
    "health-bind-address": `127.0.0.1:${health}`,
    "metrics-bind-address": "0",
    kubeconfig,
    "leader-election-namespace": namespace,
    "webhook-config-cert-dir": join(directory, "certificates"),
  };
  const flags = [...flagsOf(objects).filter(([flag]) => !(flag in here)), ...Object.entries(here)];
  const child = await spawnChild(
    directory,
    name,
    flags.map(([flag, value]) => `--${flag}=${value}`),
  );
  await eventually(async () => {
    if (!child.alive()) expect.fail(child.output());
    expect((await fetch(`http://127.0.0.1:${health}/readyz`)).status, child.output()).toBe(200);
  }, 60_000);
  return child;
}

const name = "gardener-extension-admission-calico";
const namespace = "garden-admission";
const rights = new Set(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]);

/** The chart for the garden, and the one for the cluster in which the program runs: here they are one. */
async function renderCharts(directory: string): Promise<readonly KubeObject[]> {
  const module = await moduleFolder(
    "github.com/gardener/gardener-extension-networking-calico",
    versions.networkingCalico,
  );
  const helm = await findBinary("helm");
  const rendered = ["application", "runtime"].map(async (part) => {
    const chart = join(module, "charts", name, "charts", part);
    const { stdout } = await execa(helm, ["template", name, chart, "--namespace", namespace], {
      env: { HOME: directory },
    });
    return parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject | null);
  });
  return (await Promise.all(rendered)).flat().filter((object) => object !== null);
}

/** The flags of the Deployment, by their names. */
function flagsOf(objects: readonly KubeObject[]): readonly (readonly [string, string])[] {
  const deployment = objects.find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { args: string[] }[] } } };
  };
  const [container] = deployment.spec.template.spec.containers;
  return (container?.args ?? []).map((arg) => {
    const [flag = "", value = ""] = arg.replace(/^--/, "").split("=", 2);
    return [flag, value];
  });
}
