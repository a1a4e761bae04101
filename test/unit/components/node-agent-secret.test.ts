import { expect, test } from "vitest";
import type { OperatingSystemConfig } from "../../../src/api/index.ts";
import {
  machineConfig,
  nodeAgentSecret,
  nodeAgentSecretName,
  operatingSystemConfigs,
  poolsOf,
} from "../../../src/components/index.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

const context = exampleContext();
const [pool] = poolsOf(context);
const lookup = (name: string, key: string) => Buffer.from(`${name}/${key}`).toString("base64");

test("what an extension adds takes the place of what has the same name, and drop-ins follow", () => {
  const config = withStatus({
    extensionFiles: [file("/b", "theirs"), file("/c", "new")],
    extensionUnits: [
      {
        name: "kubelet.service",
        dropIns: [{ name: "10-a.conf", content: "[Service]\nExecStart=\nExecStart=theirs" }],
        filePaths: ["/c"],
      },
      { name: "own.service", content: "theirs" },
    ],
  });
  expect(machineConfig(config, lookup)).toEqual({
    files: [
      { path: "/a", content: "ours" },
      { path: "/b", content: "theirs" },
      { path: "/c", content: "new" },
    ],
    units: [
      {
        name: "kubelet.service",
        enable: true,
        content: "[Service]\nExecStart=ours\n\n[Service]\nExecStart=\nExecStart=theirs",
        filePaths: ["/a", "/c"],
      },
      { name: "own.service", content: "theirs" },
    ],
  });
});

test("a file from a Secret has the Secret's content; bytes that are no text stay base64", () => {
  const config = withStatus({});
  const secretRef = { name: "ca-kubelet", dataKey: "ca.crt" };
  const files = [{ path: "/d", permissions: 0o600, content: { secretRef } }];
  const read = (value: string) => machineConfig({ ...config, spec: { ...config.spec, files } }, () => value).files;
  expect(read(lookup("ca-kubelet", "ca.crt"))).toEqual([
    { path: "/d", permissions: 0o600, content: "ca-kubelet/ca.crt" },
  ]);
  expect(read("/wD/AA==")).toEqual([{ path: "/d", permissions: 0o600, content: "/wD/AA==", encoding: "b64" }]);
});

test("the Secret that machines read is the one that their first configuration names", () => {
  if (pool === undefined) throw new Error("the example has a pool");
  const [provision, reconcile] = operatingSystemConfigs(context, pool);
  if (provision === undefined || reconcile === undefined) throw new Error("a pool has two OperatingSystemConfigs");
  const secret = nodeAgentSecret(context, pool, reconcile, lookup);
  expect(JSON.stringify(provision.spec.files)).toContain(`get secret ${secret.metadata.name} `);
  const { "config.json": data = "" } = secret["data"] as Record<string, string>;
  const { files } = JSON.parse(Buffer.from(data, "base64").toString()) as {
    files: { path: string; content: string }[];
  };
  expect(files.find(({ path }) => path === "/var/lib/kubelet/ca.crt")?.content).toBe("ca-kubelet/ca.crt");
});

test("machines get another Secret only when they are replaced", () => {
  const name = (version: string, labels = {}) => {
    const shoot = exampleShoot({ kubernetes: { version } });
    const changed = exampleContext({ shoot });
    return poolsOf(changed).map((each) => nodeAgentSecretName(changed, { ...each, labels }))[0];
  };
  expect(name("1.34.4")).toBe(name("1.34.5", { team: "b" }));
  expect(name("1.34.4")).not.toBe(name("1.35.0"));
});

function file(path: string, data: string) {
  return { path, content: { inline: { encoding: "", data } } };
}

function withStatus(status: NonNullable<OperatingSystemConfig["status"]>): OperatingSystemConfig {
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "OperatingSystemConfig",
    metadata: { name: "x", namespace: "y" },
    spec: {
      type: "local",
      purpose: "reconcile",
      files: [file("/a", "ours"), file("/b", "ours")],
      units: [{ name: "kubelet.service", enable: true, content: "[Service]\nExecStart=ours\n", filePaths: ["/a"] }],
    },
    status,
  };
}
