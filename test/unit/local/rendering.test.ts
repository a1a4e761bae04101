import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { renderAddons } from "../../../src/local/cluster/addons.ts";
import { renderUserData } from "../../../src/local/cluster/node.ts";
import { findResolvers, renderConfig, renderKey, renderZone, zonesOf } from "../../../src/local/process/dns.ts";
import { clusterNetworks, deriveEnvironment } from "../../../src/local/environment/environment.ts";
import { readManifest } from "../../../src/manifests.ts";
import type { ControllerRegistration } from "../../../src/api/index.ts";
import { renderDnsSecrets, renderSeed, withoutLeft } from "../../../src/local/cluster/objects.ts";
import { surroundings } from "../../../src/local/process/launch.ts";
import { renderArguments, searchAttributes } from "../../../src/local/process/temporal.ts";
import { resolveFiles } from "../../../src/local/environment/up-existing.ts";
import * as contract from "../../../src/workflows/contract.ts";

const environment = deriveEnvironment("other", "/state", ["172.30.0.0/16"]);
const networks = clusterNetworks(environment, "seed-2");

describe("the DNS server", () => {
  const parts = {
    folder: "/f",
    keyFiles: ["/f/key", "/f/leadership", "/f/ask"],
    zones: zonesOf({ domain: "perennial.test", network: "172.30.0.0/16" }),
    gateway: "172.30.0.1",
  };

  it("listens on the gateway address only and takes updates of each zone from holders of its own key", () => {
    const config = renderConfig({ ...parts, forwarders: ["192.0.2.53"] });
    expect(config).toContain("listen-on port 53 { 172.30.0.1; };");
    expect(config).toContain("listen-on-v6 { none; };");
    const updates = [...config.matchAll(/zone "([^"]+)"[^}]*allow-update { key "([^"]+)"; };/g)].map(
      ([, ...all]) => all,
    );
    expect(updates).toEqual([
      ["perennial.test", "perennial"],
      ["leadership-perennial.test", "perennial-leadership"],
    ]);
    expect(config).toContain("forwarders { 192.0.2.53; };");
  });

  it("takes unsigned updates from the environment's network, and only of upstream's zone where upstream's provider is to serve", () => {
    const zones = zonesOf({ domain: "perennial.test", network: "172.30.0.0/16", left: ["Infrastructure"] });
    const config = renderConfig({ ...parts, zones, forwarders: [] });
    const unsigned = [...config.matchAll(/zone "([^"]+)"[^}]*allow-update { ([\d./]+); };/g)].map(([, ...all]) => all);
    expect(unsigned).toEqual([["local.gardener.cloud", "172.30.0.0/16"]]);
    expect(Object.keys(parts.zones)).not.toContain("local.gardener.cloud");
  });

  it("answers for its own zone only where the host has no resolver", () => {
    const config = renderConfig({ ...parts, forwarders: [] });
    expect(config).toContain("recursion no;");
    expect(config).not.toContain("forward");
  });

  it("forwards to the host's resolvers, but not to itself", () => {
    const resolvConf =
      "# nameserver 1.1.1.1\nnameserver 10.0.0.53\nsearch x\nnameserver 172.30.0.1\nnameserver fd00::1\n";
    expect(findResolvers(resolvConf, "172.30.0.1")).toEqual(["10.0.0.53", "fd00::1"]);
  });

  it("begins with a zone whose name server is itself", () => {
    expect(renderZone(environment)).toContain(`ns IN A ${environment.gateway}`);
  });
});

const keys = { key: renderKey("c2VjcmV0"), leadershipKey: renderKey("bGVhZGVycw==", "perennial-leadership") };

it("the DNS credentials in the garden are those of the key files, and the leadership records have their own", () => {
  const [namespace, ...secrets] = renderDnsSecrets(environment, keys);
  expect(namespace?.metadata.name).toBe("garden");
  const credentials = secrets.map((secret) => [secret.metadata.name, secret["stringData"]]);
  expect(Object.fromEntries(credentials)).toMatchObject({
    dns: { Zone: environment.domain, TSIGKeyName: "perennial", TSIGSecret: "c2VjcmV0" },
    "leadership-domain": { TSIGKeyName: "perennial-leadership", TSIGSecret: "bGVhZGVycw==" },
  });
});

it("the leadership domain is a zone beside the environment's, as its example shows", async () => {
  const [example] = await readManifest("examples/leadership-domain.yaml");
  const [, , secret] = renderDnsSecrets({ ...environment, domain: "perennial.test" }, keys);
  expect(secret?.metadata).toEqual(example?.metadata);
  expect(secret?.["stringData"]).toMatchObject({ Zone: "leadership-perennial.test" });
  expect(Object.keys(secret?.["stringData"] as object)).toEqual(Object.keys(example?.["stringData"] as object));
});

it("a seed's machine gets a kubelet and a kube-proxy of its seed", () => {
  const userData = renderUserData({ networks, ca: "CA", kubelet: "KUBELET", kubeProxy: "PROXY" });
  const files = userData.files.filter((file) => "content" in file);
  const config = (name: string) =>
    parse(files.find(({ path }) => path.endsWith(name))?.content ?? "") as Record<string, unknown>;
  expect(userData.units.map(({ name }) => name)).toEqual(["kubelet.service", "kube-proxy.service"]);
  expect(config("kubelet-config.yaml")).toMatchObject({ clusterDNS: [networks.dns], cgroupRoot: "${MACHINE_CGROUP}" });
  expect(config("kube-proxy-config.yaml")).toMatchObject({ clusterCIDR: networks.pods, mode: "iptables" });
  const secrets = files.filter(({ content }) => content === "KUBELET" || content === "PROXY");
  expect(secrets.map(({ permissions }) => permissions)).toEqual([0o600, 0o600]);
});

it("a seed's machine has the socket that upstream's machines mount, where these are pods there", () => {
  const parts = { networks, ca: "CA", kubelet: "KUBELET", kubeProxy: "PROXY" };
  const units = renderUserData({ ...parts, machinePods: true }).units.map(({ name }) => name);
  expect(units).toEqual(["kubelet.service", "kube-proxy.service", "docker-socket.service"]);
});

it("a seed's DNS has the tenth service address and asks the environment's DNS server", () => {
  const objects = renderAddons(environment, networks);
  expect(objects.find(({ kind }) => kind === "Service")).toMatchObject({ spec: { clusterIP: networks.dns } });
  const corefile = JSON.stringify(objects.find(({ kind }) => kind === "ConfigMap"));
  expect(corefile).toContain(`forward . ${environment.gateway}`);
});

it("a Seed is the example's with the names and networks of its environment", async () => {
  const [example] = await readManifest("examples/seed.yaml");
  if (example === undefined) throw new Error("deploy/examples/seed.yaml is empty");
  const seed = renderSeed(example, environment, "seed-2");
  expect(seed.metadata.name).toBe("seed-2");
  expect(seed).toMatchObject({ spec: { networks: { pods: networks.pods, services: networks.services } } });
  expect(JSON.stringify(seed)).toContain("ingress.seed-2.other.perennial.test");
  expect(JSON.stringify(seed)).not.toMatch(/[^r]\.perennial\.test/);
});

it("the built-in provider is registered for all that it serves, and not for what it leaves to others", async () => {
  const [registration] = await readManifest("examples/controller-registration.yaml");
  if (registration === undefined) throw new Error("deploy/examples/controller-registration.yaml is empty");
  const offered = (left?: readonly string[]) =>
    (withoutLeft(registration, left === undefined ? {} : { left }) as ControllerRegistration).spec.resources?.map(
      ({ kind, type }) => `${kind} ${type}`,
    );
  expect(withoutLeft(registration, {})).toEqual(registration);
  expect(offered(["Infrastructure", "DNSRecord"])).toEqual(
    offered()?.filter((one) => one !== "Infrastructure local"), // its DNSRecords are of another type
  );
});

describe("Temporal", () => {
  it("knows every search attribute that the workflows set", () => {
    const used = Object.values(contract.searchAttributes).map(({ name }) => name);
    expect([...searchAttributes].sort()).toEqual(used.sort());
  });

  it("listens on the loopback address only and keeps its database in a file", () => {
    const args = renderArguments({ database: "/d", port: 1, ui: 2, http: 3, metrics: 4 }).join(" ");
    expect(args).toContain("--ip 127.0.0.1 --ui-ip 127.0.0.1 --port 1 --ui-port 2");
    expect(args).toContain("--db-filename /d");
    expect(args).toContain("--dynamic-config-value history.transferProcessorMaxPollRPS=2000");
  });
});

it("a kubeconfig that is adopted names its files from the root", () => {
  const kubeconfig =
    "clusters: [{cluster: {certificate-authority: ca.crt}}]\nusers: [{user: {client-key: /k, tokenFile: t}}]";
  expect(parse(resolveFiles(kubeconfig, "/home/me"))).toEqual({
    clusters: [{ cluster: { "certificate-authority": "/home/me/ca.crt" } }],
    users: [{ user: { "client-key": "/k", tokenFile: "/home/me/t" } }],
  });
});

it("processes inherit what they need from their starter and no settings meant for it", () => {
  const env = {
    PATH: "/bin",
    AWS_PROFILE: "me",
    NODE_OPTIONS: "--inspect",
    npm_config_x: "1",
    KUBECONFIG: "/k",
    NO_PROXY: "corp",
  };
  expect(surroundings({ ...env, PERENNIAL_LOG_LEVEL: "debug" })).toEqual({
    PATH: "/bin",
    AWS_PROFILE: "me",
    NO_PROXY: "corp,127.0.0.1,localhost,::1,10.0.0.0/8,172.16.0.0/12",
    no_proxy: "corp,127.0.0.1,localhost,::1,10.0.0.0/8,172.16.0.0/12",
  });
});
