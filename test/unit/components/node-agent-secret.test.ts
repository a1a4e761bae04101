import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { OperatingSystemConfig } from "../../../src/api/index.ts";
import { nodeAgentSecret, operatingSystemConfigs, poolsOf } from "../../../src/components/index.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

const context = exampleContext();
const [pool] = poolsOf(context);
const [provision, reconcile] = pool === undefined ? [] : operatingSystemConfigs(context, pool);
if (pool === undefined || provision === undefined || reconcile === undefined)
  throw new Error("the example has a pool with two OperatingSystemConfigs");
const lookup = (name: string, key: string) => Buffer.from(`${name}/${key}`).toString("base64");
const secretOf = (config: OperatingSystemConfig, read = lookup) => {
  const secret = nodeAgentSecret(context, pool, config, read);
  const { "osc.yaml": data = "" } = secret["data"] as Record<string, string>;
  const text = Buffer.from(data, "base64").toString();
  return { secret, text, config: parse(text) as OperatingSystemConfig };
};

test("a machine finds its Secret by the name in the agent's configuration that it boots with", () => {
  const file = provision.spec.files?.find(({ path }) => path.endsWith("/config-v1.150.0.yaml"));
  const { controllers } = parse(file?.content.inline?.data ?? "") as {
    controllers: { operatingSystemConfig: { secretName: string } };
  };
  const { metadata } = secretOf(reconcile).secret;
  expect(metadata).toMatchObject({ name: controllers.operatingSystemConfig.secretName, namespace: "kube-system" });
});

test("the Secret has the files and units of spec and status apart, for the agent to put together", () => {
  const added = { path: "/c", content: { inline: { encoding: "", data: "new" } } };
  const unit = { name: "kubelet.service", dropIns: [{ name: "10-a.conf", content: "[Service]" }] };
  const { config } = secretOf({ ...reconcile, status: { extensionFiles: [added], extensionUnits: [unit] } });
  expect(config.spec.units).toEqual(reconcile.spec.units);
  expect(config.spec.criConfig).toEqual(reconcile.spec.criConfig);
  expect(config.status).toEqual({ extensionFiles: [added], extensionUnits: [unit] });
});

test("what machines cannot read, the Secrets beside their control plane, stands in the Secret itself", () => {
  const secretRef = { name: "theirs", dataKey: "key" };
  const { config, text } = secretOf({
    ...reconcile,
    status: { extensionFiles: [{ path: "/t", content: { secretRef } }] },
  });
  expect(text).not.toContain("secretRef");
  const inline = { encoding: "b64", data: lookup("theirs", "key") };
  expect(config.status?.extensionFiles).toEqual([{ path: "/t", content: { inline } }]);
  const authority = config.spec.files?.find(({ path }) => path === "/var/lib/kubelet/ca.crt");
  expect(authority?.content.inline).toEqual({ encoding: "b64", data: lookup("ca-kubelet", "ca.crt") });
});

test("the checksum is of the text, and changes with nothing that is no business of machines", () => {
  const checksumOf = (config: OperatingSystemConfig, read = lookup) =>
    secretOf(config, read).secret.metadata.annotations?.["checksum/data-script"];
  const { text } = secretOf(reconcile);
  expect(checksumOf(reconcile)).toBe(createHash("sha256").update(text).digest("hex"));
  const lastOperation = { type: "Reconcile", state: "Succeeded", progress: 100, description: "" } as const;
  const changed = {
    ...reconcile,
    metadata: { ...reconcile.metadata, resourceVersion: "2", annotations: { "gardener.cloud/timestamp": "now" } },
    status: { observedGeneration: 7, lastOperation: { ...lastOperation, lastUpdateTime: "2026-11-26T00:00:00Z" } },
  };
  expect(checksumOf(changed)).toBe(checksumOf(reconcile));
  expect(checksumOf(reconcile, () => "bmV3")).not.toBe(checksumOf(reconcile));
});
