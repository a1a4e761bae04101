import { expect, test } from "vitest";
import { plannedRows, renderPlan } from "../../../src/gardenadm/init/plan.ts";
import { reconcileWrites } from "../../../src/gardenadm/init/writes.ts";
import { reconcileSelfHosted } from "../../../src/workflows/reconcile-self-hosted.ts";

test("the plan says of each row what it writes, and of no other", () => {
  expect(Object.keys(reconcileWrites)).toEqual([...reconcileSelfHosted.steps.keys()]);
});

test("in a window of 100 columns each path and kind is in its row, and no line is longer", () => {
  const lines = renderPlan(plannedRows(), "/root/config", 100).split("\n");
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  const after = (line: string) => lines.slice(lines.indexOf(line) + 1);
  expect(after("  imported: moves what was made so far into the API server").slice(0, 2)).toEqual([
    "      /var/lib/gardenadm/imported",
    "      in kube-system: ConfigMap, Deployment, Secret, StatefulSet",
  ]);
  expect(after("  kubelet: waits for the kubelet")[0]).toBe("      writes nothing");
  expect(lines).toContain("      where the control plane is exposed, /etc/kubernetes/admin-exposed.conf");
  expect(lines).toContain("      /root/config/.backup-keys.json");
  expect(lines).toContain("      from then on, in kube-system: Lease");
});
