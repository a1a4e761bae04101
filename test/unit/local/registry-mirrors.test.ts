import { expect, it } from "vitest";
import { mirrorFiles } from "../../../src/local/registry/mirrors.ts";

const files = mirrorFiles({ host: "172.30.0.1:5000", ca: "PEM" });

it("an image is looked for in the environment's registry, by a certificate of its authority, below its own registry's name", () => {
  expect(files["/etc/containerd/certs.d/registry.k8s.io/hosts.toml"]).toBe(
    [
      'server = "https://registry.k8s.io"',
      "",
      '[host."https://172.30.0.1:5000/v2/registry.k8s.io"]',
      '  capabilities = ["pull", "resolve"]',
      "  override_path = true",
      '  ca = "/etc/containerd/certs.d/perennial-registry.crt"',
      "",
    ].join("\n"),
  );
  expect(files["/etc/containerd/certs.d/perennial-registry.crt"]).toBe("PEM");
});

it("a registry's port is no part of a repository's name, and Docker's images come from another host than their name says", () => {
  const local = files["/etc/containerd/certs.d/registry.local.gardener.cloud:5001/hosts.toml"];
  expect(local).toContain('[host."https://172.30.0.1:5000/v2/registry.local.gardener.cloud_5001"]');
  expect(files["/etc/containerd/certs.d/docker.io/hosts.toml"]).toContain('server = "https://registry-1.docker.io"');
});
