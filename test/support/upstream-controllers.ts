import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { BinaryName } from "../../src/local/binary/versions.ts";
import { spawnChild, type Child } from "./child.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";

/** The controllers of upstream's provider-local, by the names of its flags. */
const controllers = [
  ...["backupbucket", "backupentry", "bastion", "controlplane", "dnsrecord", "healthcheck", "heartbeat"],
  ...["infrastructure", "local-ext-seed", "local-ext-shoot", "local-ext-shoot-after-worker"],
  ...["operatingsystemconfig", "selfhostedshootexposure", "worker"],
] as const;

/** A controller of upstream's provider-local. */
export type LocalController = (typeof controllers)[number];

const webhooks = ["controlplane", "shoot", "rollout-speedup", "networkpolicy", "node", "prometheus"];

/** A name of a host, and where it is. */
export interface KnownHost {
  readonly name: string;
  readonly address: string;
}

/**
 * Starts upstream's provider-local with these controllers and without webhooks; what it keeps in files is in the directory.
 * Only it knows the host, which takes root.
 */
export async function startProviderLocal(
  directory: string,
  kubeconfig: string,
  wanted: readonly LocalController[],
  host?: KnownHost,
): Promise<Child> {
  const off = controllers.filter((name) => !wanted.includes(name));
  const buckets = join(directory, "buckets");
  await mkdir(buckets, { recursive: true });
  const flags = [
    "--webhook-config-mode=url",
    "--webhook-config-url=127.0.0.1",
    "--webhook-config-namespace=default",
    `--webhook-config-server-port=${(await freePorts(1))[0]}`,
    `--webhook-config-cert-dir=${join(directory, "webhooks")}`,
    `--backupbucket-local-dir=${buckets}`,
    `--disable-controllers=${off.join()}`,
    `--disable-webhooks=${webhooks.join()}`,
  ];
  const through = host === undefined ? [] : await knowing(directory, host);
  return await startController("gardener-extension-provider-local", { directory, kubeconfig, flags, through });
}

/** Starts upstream's networking-calico with the configuration that its chart gives it. */
export async function startCalico(directory: string, kubeconfig: string): Promise<Child> {
  const file = join(directory, "config.yaml");
  const apiVersion = "calico.networking.extensions.config.gardener.cloud/v1alpha1";
  await writeFile(file, `apiVersion: ${apiVersion}\nkind: ControllerConfiguration\n${clientConnection}`);
  const [webhooks] = await freePorts(1);
  const flags = [`--config-file=${file}`, `--webhook-config-server-port=${webhooks}`];
  return await startController("gardener-extension-networking-calico", { directory, kubeconfig, flags });
}

const clientConnection = `clientConnection:
  acceptContentTypes: application/json
  contentType: application/json
  qps: 100
  burst: 130
`;

/** The command under which a program finds the host in a hosts file of its own. */
async function knowing(directory: string, { name, address }: KnownHost): Promise<readonly string[]> {
  const file = join(directory, "hosts");
  await writeFile(file, `${address} ${name}\n`);
  return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', file];
}

interface Start {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly flags: readonly string[];
  readonly through?: readonly string[];
}

/** Starts a manager of controllers that follows Gardener's conventions for flags; resolves when it is healthy. */
async function startController(name: BinaryName, { directory, kubeconfig, flags, through }: Start): Promise<Child> {
  const [metrics, health] = await freePorts(2);
  const args = [
    `--kubeconfig=${kubeconfig}`,
    "--leader-election=false",
    "--heartbeat-namespace=default",
    `--metrics-bind-address=127.0.0.1:${metrics}`,
    `--health-bind-address=127.0.0.1:${health}`,
    ...flags,
  ];
  const child = await spawnChild(directory, name, args, through);
  await eventually(async () => {
    if (!child.alive()) expect.fail(child.output());
    expect((await fetch(`http://127.0.0.1:${health}/healthz`)).status).toBe(200);
  }, 60_000);
  return child;
}
