import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseZone, zoneFaults, type ZoneRequest } from "../../../src/gardenadm/init/zone.ts";
import { noteZone } from "../../../src/gardenadm/cluster/place.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "zone-"));
  await mkdir(join(root, "/var/lib/kubelet"), { recursive: true });
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

/** A machine that is to carry the control plane of a Shoot whose pool has these zones. */
function deps(zones: readonly string[] | undefined, zone?: string): ZoneRequest {
  const { shoot } = backedUpOnNodes();
  const [pool, ...others] = shoot.spec.provider.workers ?? [];
  const workers = [{ ...pool, zones }, ...others];
  const spec = { ...shoot.spec, provider: { ...shoot.spec.provider, workers } };
  return { machine: { root }, configuration: { shoot: { ...shoot, spec } as typeof shoot }, zone };
}

test.each([
  [["a", "b"], undefined, "pool control-plane has zones a, b: say with --zone in which one this machine is"],
  [["a", "b"], "c", "pool control-plane has no zone c: name one of a, b with --zone"],
  [undefined, "a", "pool control-plane has no zones: leave out --zone"],
])("of zones %s, %s is refused in a sentence", async (zones, zone, fault) => {
  expect(await zoneFaults(deps(zones, zone))).toEqual([fault]);
});

test("the first node's zone is the one that is said, or the only one, and is known from then on", async () => {
  expect(await chooseZone(deps(undefined))).toBeUndefined();
  expect(await chooseZone(deps(["a"]))).toBe("a");
  await noteZone(root, await chooseZone(deps(["a", "b"], "b")));
  expect(await readFile(join(root, "/var/lib/kubelet/extra_args"), "utf8")).toBe(
    "KUBELET_EXTRA_ARGS=--node-labels=topology.kubernetes.io/zone=b\n",
  );
  expect(await zoneFaults(deps(["a", "b"]))).toEqual([]);
  expect(await chooseZone(deps(["a", "b"]))).toBe("b");
});
