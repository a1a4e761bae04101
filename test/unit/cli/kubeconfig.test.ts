import { expect, it } from "vitest";
import { parse } from "yaml";
import { reachable } from "../../../src/cli/report/kubeconfig.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";

const published = renderKubeconfig({ server: "https://api.local.dev.perennial.test", ca: "CA", token: "t" });
const nobody = async () => [];

it("the kubeconfig of a Shoot keeps the name of the API server where this machine resolves it", async () => {
  const { kubeconfig } = await reachable(published, {
    here: async () => ["172.30.128.1"],
    elsewhere: [],
    advertised: [],
  });
  expect(kubeconfig).toBe(published);
});

it("the kubeconfig of a Shoot takes the address that another resolver knows, and keeps the name for the certificate", async () => {
  const { kubeconfig } = await reachable(published, {
    here: nobody,
    elsewhere: [async () => ["172.30.128.1"]],
    advertised: [],
  });
  expect(clusterOf(kubeconfig)).toMatchObject({
    server: "https://172.30.128.1:443",
    "tls-server-name": "api.local.dev.perennial.test",
  });
});

it("the kubeconfig of a Shoot takes an address that the Shoot advertises when no resolver knows the name", async () => {
  const advertised = ["https://api.local.dev.perennial.test", "https://172.30.128.2"];
  const { kubeconfig } = await reachable(published, { here: nobody, elsewhere: [nobody], advertised });
  expect(clusterOf(kubeconfig).server).toBe("https://172.30.128.2:443");
});

it("the kubeconfig of a Shoot stays as it is when no address is known", async () => {
  expect((await reachable(published, { here: nobody, elsewhere: [], advertised: [] })).kubeconfig).toBe(published);
});

function clusterOf(kubeconfig: string): { server: string } {
  const { clusters } = parse(kubeconfig) as { clusters: { cluster: { server: string } }[] };
  return clusters[0]?.cluster ?? { server: "" };
}
