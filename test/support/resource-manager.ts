import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { parse, stringify } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import { spawnChild, type Child } from "./child.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";

/** What a resource manager starts with besides its configuration: files of kubeconfigs, and its server's certificate. */
export interface ResourceManagerFiles {
  readonly source: string;
  readonly target: string;
  /** Content of the Secret of its server, in base64. */
  readonly server: Readonly<Record<string, string>>;
}

/** A resource manager that runs on this machine. */
export interface LocalResourceManager extends Child {
  /** Where its webhooks answer. */
  readonly webhooks: string;
}

/**
 * Starts upstream's resource manager with the configuration of a ConfigMap of ours, and returns when it is ready. Ports,
 * kubeconfigs and certificates are this machine's. `folder` is made.
 */
export async function startResourceManager(
  folder: string,
  configMap: KubeObject | undefined,
  { source, target, server }: ResourceManagerFiles,
): Promise<LocalResourceManager> {
  await mkdir(folder);
  for (const [file, content] of Object.entries(server))
    await writeFile(join(folder, file), Buffer.from(content, "base64"));
  const { "config.yaml": text = "" } = (configMap?.["data"] ?? {}) as Record<string, string>;
  const config = parse(text) as { readonly sourceClientConnection?: object };
  const [webhooks, health, metrics] = await freePorts(3);
  const bindAddress = "127.0.0.1";
  const onThisMachine = {
    sourceClientConnection: { ...config.sourceClientConnection, kubeconfig: source },
    targetClientConnection: { kubeconfig: target },
    server: {
      webhooks: { bindAddress, port: webhooks, tls: { serverCertDir: folder } },
      healthProbes: { bindAddress, port: health },
      metrics: { bindAddress, port: metrics },
    },
  };
  const file = join(folder, "config.yaml");
  await writeFile(file, stringify({ ...config, ...onThisMachine }));
  const child = await spawnChild(folder, "gardener-resource-manager", [`--config=${file}`]);
  await eventually(async () => {
    if (!child.alive()) expect.fail(child.output());
    expect((await fetch(`http://${bindAddress}:${health}/readyz`)).status).toBe(200);
  });
  return { ...child, webhooks: `https://${bindAddress}:${webhooks}` };
}
