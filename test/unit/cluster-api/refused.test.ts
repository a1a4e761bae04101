import { expect, test } from "vitest";
import { unlessRefused } from "../../../src/cluster-api/shoot/refused.ts";
import { KubeError } from "../../../src/kube/index.ts";

const management = { server: "https://management.test" };
const garden = { server: "https://garden.test" };

/** What is said of work that an API server answers with this status. */
async function saidOf(status: number, server: string, clusters = { management, garden }): Promise<unknown[]> {
  const said: unknown[] = [];
  const error = new KubeError("cannot list Seed: no", { status, reason: "", server, retryable: false });
  const work = unlessRefused(clusters, Promise.reject(error), async (refusal) => void said.push(refusal));
  await expect(work).rejects.toBe(error);
  return said;
}

const refusedBy = (cluster: string) => [
  { reason: "RequestRefused", message: `${cluster} refuses a request: cannot list Seed: no` },
];

test.each([401, 403, 404])("the controller says which cluster has refused a request with %s", async (status) => {
  expect(await saidOf(status, garden.server)).toEqual(refusedBy("the garden"));
  expect(await saidOf(status, management.server)).toEqual(refusedBy("the management cluster"));
  expect(await saidOf(status, garden.server, { management: garden, garden })).toEqual(refusedBy("the cluster"));
});

test.each([0, 409, 500])("the controller tries again without a word what failed with %s", async (status) => {
  expect(await saidOf(status, garden.server)).toEqual([]);
});

test("the controller says nothing of what a Shoot's own API server refuses", async () => {
  expect(await saidOf(403, "https://api.shoot.test")).toEqual([]);
});
