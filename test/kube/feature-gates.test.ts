import { readFile, writeFile } from "node:fs/promises";
import { execa } from "execa";
import { expect } from "vitest";
import { knownGates, type Gates } from "../../src/admission/shoot/known-gates.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { findBinary } from "../support/binary.ts";
import { test } from "../support/cluster-test.ts";
import { renderKnownGates } from "../support/known-gates.ts";

// What admission knows of feature gates comes from the pinned binaries: `UPDATE_GOLDEN=1` writes it anew.

const file = new URL("../../src/admission/shoot/known-gates.ts", import.meta.url);
const minor = versions.kubernetes.replace(/\.\d+$/, "");

test("admission knows all feature gates of the pinned kube-apiserver, and which of them are locked", async ({
  cluster,
}) => {
  const kubectl = await findBinary("kubectl");
  const { stdout: metrics } = await execa(kubectl, [
    "--kubeconfig",
    cluster.kubeconfigFile,
    "get",
    "--raw",
    "/metrics",
  ]);
  const gates: Record<keyof Gates, string[]> = { open: [], on: [], off: [] };
  for (const [, name = "", enabled] of metrics.matchAll(/^kubernetes_feature_enabled\{name="(\w+)".*\} ([01])$/gm)) {
    const refusal = await refusalOf("kube-apiserver", `${name}=${enabled === "0"}`);
    if (refusal.includes("locked to")) gates[enabled === "1" ? "on" : "off"].push(name);
    else gates.open.push(name);
  }
  expect(gates.open.length).toBeGreaterThan(100);
  const text = renderKnownGates({ ...knownGates, [minor]: gates });
  if (process.env["UPDATE_GOLDEN"] === "1") await writeFile(file, text);
  expect(await readFile(file, "utf8")).toBe(text);
});

test.for(["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const)(
  "%s has every gate that admission knows",
  async (component) => {
    const { open = [], on = [], off = [] } = knownGates[minor] ?? {};
    const named = [...[...open, ...on].map((name) => `${name}=true`), ...off.map((name) => `${name}=false`)];
    expect(await refusalOf(component, named.filter((gate) => !/^All(Alpha|Beta)=/.test(gate)).join())).toBe("");
    expect(await refusalOf(component, "NoSuchGate=true")).toContain("unrecognized feature gate: NoSuchGate");
  },
);

/** What a binary has against feature gates; it judges them before it says its version. */
async function refusalOf(
  name: "kube-apiserver" | "kube-controller-manager" | "kube-scheduler",
  gates: string,
): Promise<string> {
  const { exitCode, stderr } = await execa(await findBinary(name), [`--feature-gates=${gates}`, "--version"], {
    reject: false,
  });
  return exitCode === 0 ? "" : stderr;
}
