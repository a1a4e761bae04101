import { expect, test } from "vitest";
import { parse } from "yaml";
import { adaptKubelet } from "../../../src/provider-local/machine-image/kubelet.ts";

const spec = { type: "local", purpose: "reconcile" } as const;

test("the kubelet's configuration gets what a local machine needs and keeps the rest", () => {
  const data = "kind: KubeletConfiguration\ncgroupDriver: systemd\nmaxPods: 42\n";
  const path = "/var/lib/kubelet/config/kubelet";
  const files = [
    { path, permissions: 0o644, content: { inline: { encoding: "", data } } },
    { path: "/var/lib/kubelet/ca.crt", content: { secretRef: { name: "ca-kubelet", dataKey: "ca.crt" } } },
  ];
  const { extensionFiles } = adaptKubelet({ ...spec, files });
  expect(extensionFiles).toMatchObject([{ path, permissions: 0o644, content: { inline: { encoding: "" } } }]);
  expect(parse(extensionFiles[0]?.content.inline?.data ?? "")).toMatchObject({
    maxPods: 42,
    cgroupDriver: "cgroupfs",
    cgroupRoot: "${MACHINE_CGROUP}",
    providerID: "${MACHINE_PROVIDER_ID}",
    failSwapOn: false,
  });
});

test("the kubelet's command gets its address and name at the end, also where it goes over several lines", () => {
  const content = "[Service]\nExecStart=/opt/bin/kubelet \\\n    --config=x \\\n    --v=2\nRestart=always\n";
  const units = [
    { name: "kubelet.service", content },
    { name: "other.service", content },
  ];
  const { extensionUnits } = adaptKubelet({ ...spec, units });
  const flags = "--node-ip=${MACHINE_ADDRESS} --hostname-override=${MACHINE_NAME} --runtime-cgroups=";
  expect(extensionUnits).toEqual([
    {
      name: "kubelet.service",
      content: `[Service]\nExecStart=/opt/bin/kubelet \\\n    --config=x \\\n    --v=2 \\\n    ${flags}\nRestart=always\n`,
    },
  ]);
});
