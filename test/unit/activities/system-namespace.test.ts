import { expect, test } from "vitest";
import { ends } from "../../../src/activities/control-plane/system-namespace.ts";
import { createSeedActivities, type SeedDeps } from "../../../src/activities/seed.ts";
import { shootRun } from "../../support/shoot-run.ts";

/** A client, or whatever else an activity has, that notes each use of it. */
function untouchable(used: string[], path: string): never {
  return new Proxy(() => undefined, {
    get: (_, key) => (key === "then" ? undefined : untouchable(used, `${path}.${String(key)}`)),
    apply: () => {
      used.push(path);
      return Promise.reject(new Error(`${path} was used`));
    },
  }) as never;
}

const names = Object.keys(ends) as (keyof typeof ends)[];

test.each(names.filter((name) => ends[name]))("%s refuses kube-system, and touches nothing", async (name) => {
  const used: string[] = [];
  const deps = new Proxy({} as SeedDeps, { get: (_, key) => untouchable(used, String(key)) });
  const activities = createSeedActivities(deps);
  used.length = 0;
  const act = activities[name] as (...args: readonly unknown[]) => Promise<unknown>;
  await expect(act(shootRun({ technicalID: "kube-system" }), "etcd", "step")).rejects.toThrow(
    `cannot do ${name} in namespace kube-system: it is the system of a whole cluster`,
  );
  expect(used).toEqual([]);
});

test("another namespace is not refused", async () => {
  const used: string[] = [];
  const deps = new Proxy({} as SeedDeps, { get: (_, key) => untouchable(used, String(key)) });
  await expect(createSeedActivities(deps).removeNamespace(shootRun(), "step")).rejects.toThrow("was used");
});

test("what sounds of an end is one, but for what takes away only what nothing asks for any more", () => {
  const sounding = names.filter((name) => /^(remove|destroy|stop|clean|abandon|release|migrate)/.test(name));
  expect(sounding.filter((name) => !ends[name])).toEqual([
    "removeStaleConfigs",
    "removeStaleExtensions",
    "removeStaleResources",
    "removeStaleResourceManagerWebhooks",
    "removeUnusedResourceManager",
  ]);
});
