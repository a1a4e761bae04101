import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { issueAuthority } from "../../../src/activities/secrets/pki.ts";
import { defineFlow } from "../../../src/flow/flow.ts";
import { createContext } from "../../../src/gardenadm/connection.ts";
import { OperatorError } from "../../../src/gardenadm/steps/fault.ts";
import { commandOf as joinLine } from "../../../src/gardenadm/join/join.ts";
import { commandOf as resetLine } from "../../../src/gardenadm/reset/reset.ts";
import { commandOf as restoreLine } from "../../../src/gardenadm/restore/restore.ts";
import { lastRunOf, nextSteps } from "../../../src/gardenadm/status/report.ts";
import { createTables } from "../../../src/gardenadm/steps/tables.ts";
import { authorityHashes } from "../../../src/gardenadm/cluster/authorities.ts";
import { readJournal } from "../../../src/in-process/journal.ts";
import { fakeTerminal } from "../cli/fake-terminal.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-going-on-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const flow = defineFlow<undefined, string, "members">("Reset a node", { members: { do: "members" } });
const none = { node: undefined, machineOnly: false, kubeconfig: undefined };

test("status names the very command that was begun, and not one that would take this machine out", async () => {
  const command = resetLine({ ...none, node: "b" });
  expect(await stepsAfter(command)).toEqual([
    "step members is parked: no quorum; go on: gardenadm reset --node b --machine-is-gone",
  ]);
});

test("a join goes on with its role, and with a token that is still good: none is in the journal", async () => {
  const address = "https://10.0.0.1";
  const told = { address, role: "control-plane", pool: undefined, zone: "z 1" } as const;
  const token = { id: "abcdef", secret: "0123456789abcdef" };
  const command = joinLine({ ...told, ...{ token } }, { ...{ token }, hashes: ["sha256:00"] });
  expect(await stepsAfter(command)).toEqual([
    "step members is parked: no quorum; go on: echo TOKEN | gardenadm join https://10.0.0.1 --bootstrap-token - --ca-cert-hash sha256:00 --control-plane --zone 'z 1'" +
      ", where TOKEN is what 'gardenadm token create --control-plane' prints on a node of the control plane",
  ]);
  expect(await readFile(join(folder, "journal"), "utf8")).not.toContain(token.secret);
});

test("an authority that was given as a file is named by its hash, which no file has to be there for", async () => {
  const { certificate: ca } = await issueAuthority("kubernetes", new Date());
  const told = { address: "https://a", role: "worker", pool: "w", zone: undefined } as const;
  const [hash = ""] = authorityHashes(ca, "the test");
  expect(joinLine(told, { hashes: [], ca })).toBe(
    `echo TOKEN | gardenadm join https://a --bootstrap-token - --ca-cert-hash ${hash} --worker-pool-name w`,
  );
});

test("files are named from the root, so that a line goes on from wherever it is pasted", () => {
  expect(resetLine({ ...none, kubeconfig: "admin.conf" })).toBe(
    `gardenadm reset --kubeconfig ${resolve("admin.conf")}`,
  );
  expect(resetLine({ ...none, machineOnly: true })).toBe("gardenadm reset --machine-only");
  const configuration = { folder: "it's" };
  expect(restoreLine({ configuration, from: "member", key: undefined, zone: undefined, quorumIsLost: true })).toBe(
    `gardenadm restore -d '${resolve("it's").replace("'", "'\\''")}' --from member --yes-quorum-is-lost`,
  );
  expect(
    restoreLine({ configuration: { folder: "/c" }, from: "latest", key: "k", zone: "z1", quorumIsLost: false }),
  ).toBe(`gardenadm restore -d /c --from latest --key ${resolve("k")} --zone z1`);
});

/** What status says after a command of this line has parked. */
async function stepsAfter(command: string): Promise<string[]> {
  const journal = join(folder, "journal");
  const signal = new AbortController().signal;
  const deps = { terminal: fakeTerminal(), signal, variables: {}, adminKubeconfig: "", input: nothing() };
  const { context } = createContext(deps);
  const tables = createTables(context, { journal, about: "b", command });
  const parks = async () => await Promise.reject(new OperatorError("no quorum"));
  await expect(tables.run(flow, undefined, parks)).rejects.toThrow("no quorum");
  const lastRun = lastRunOf(await readJournal(journal)) ?? expect.fail("there was one");
  return nextSteps({ host: "a", role: "control-plane", imported: true, certificates: [], lastRun }, Date.now());
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
