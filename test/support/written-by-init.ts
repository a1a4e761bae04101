import { join, matchesGlob } from "node:path";
import { plannedRows, type PlannedRow } from "../../src/gardenadm/init/plan.ts";
import type { Writes } from "../../src/gardenadm/init/writes.ts";
import { readJournal, type JournalEntry } from "../../src/in-process/journal.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** Something on the machine or in its cluster, and when it was written last, in ms since 1970. */
interface Written {
  readonly what: string;
  readonly at: number;
  readonly isFile: boolean;
  readonly isNamedBy: (writes: Writes) => boolean;
}

/** A planned row, and when it ran, in ms since 1970. */
interface RowThatRan extends PlannedRow {
  readonly from: number;
  readonly to: number;
}

/**
 * Compares what `gardenadm init` has left, on the machine and in its cluster, with its plan. Answers with what was written that
 * no row names which had begun by then (of objects: which was running then), and what a row names that is not there.
 */
export async function differenceFromPlan(
  machine: GardenadmMachine,
): Promise<{ readonly unnamed: readonly string[]; readonly notThere: readonly string[] }> {
  const ran = rowsThatRan(await readJournal(join(await machine.root(), "/var/lib/gardenadm/journal")));
  const files = await changedFiles(machine, Math.min(...ran.map(({ from }) => from)));
  const objects = await machine.asAdministrator(ownObjects);
  const written = [...files, ...objects];
  const unnamed = written.filter((one) => !ran.some((row) => isBy(row, one)));
  return { unnamed: unnamed.map(({ what }) => what), notThere: namedInVain(ran, written) };
}

/** What a row has started may write its files later. */
function isBy({ from, to, writes }: RowThatRan, { at, isFile, isNamedBy }: Written): boolean {
  return writes.some((one) => {
    const isInTime = from - SECOND <= at && (isFile || one.fromThenOn === true || at <= to + SECOND);
    return isInTime && isNamedBy(one);
  });
}

/** Times of objects are whole seconds. */
const SECOND = 1_000;

function rowsThatRan(journal: readonly JournalEntry[]): readonly RowThatRan[] {
  return [...Map.groupBy(journal, ({ run }) => run).values()].flatMap((entries) => {
    const at = (row: PlannedRow, state: string) =>
      Date.parse(
        entries.find(({ flow, step, state: was }) => flow === row.flow && step === row.step && was === state)?.time ??
          "",
      );
    return plannedRows()
      .map((row) => ({ ...row, from: at(row, "running"), to: at(row, "done") }))
      .filter(({ to }) => !Number.isNaN(to));
  });
}

/** What goes again as soon as the API server has it. */
const GONE_AGAIN = "/var/lib/gardenadm/cluster/";

function namedInVain(ran: readonly RowThatRan[], written: readonly Written[]): string[] {
  const isThere = (writes: Writes) => written.some(({ isNamedBy }) => isNamedBy(writes));
  return ran.flatMap(({ step, writes }) =>
    writes
      .filter(({ when }) => when === undefined)
      .flatMap(({ paths = [], objects = {} }) => [
        ...paths.filter((path) => path !== GONE_AGAIN && !isThere({ paths: [path] })).map((path) => `${step}: ${path}`),
        ...Object.entries(objects).flatMap(([namespace, kinds]) =>
          kinds
            .filter((kind) => !isThere({ objects: { [namespace]: [kind] } }))
            .map((kind) => `${step}: ${kind} in "${namespace}"`),
        ),
      ]),
  );
}

/** Files, links and folders that were made or changed since then; a folder whose entries alone have changed is left out. */
async function changedFiles({ ground, name }: GardenadmMachine, since: number): Promise<readonly Written[]> {
  const lines = (await ground.inMachine(name, "bash", "-c", SURVEY)).split("\n").filter((line) => line !== "");
  return lines.flatMap((line) => {
    const [kind, born = "", changed = "", ...words] = line.split(" ");
    const path = words.join(" ");
    const birth = Number(born) * 1_000;
    const at = birth >= since ? birth : Number(changed) * 1_000;
    if (at < since || (kind === "d" && birth < since)) return [];
    const isNamedBy = ({ paths = [] }: Writes) => paths.some((pattern) => covers(pattern, path));
    return [{ what: path, at, isFile: true, isNamedBy }];
  });
}

function covers(pattern: string, path: string): boolean {
  const wanted = pattern.replace("FOLDER", CONFIGURATION_FOLDER);
  if (!wanted.endsWith("/")) return matchesGlob(path, wanted) || wanted.startsWith(`${path}/`);
  const folder = wanted.slice(0, -1);
  const above = path.split("/").slice(0, folder.split("/").length).join("/");
  return matchesGlob(above, folder) || folder.startsWith(`${path}/`);
}

/** Without what a machine writes by itself, and what is containerd's; some folders are mounts of their own. */
const SURVEY = String.raw`
find / /var/lib/kubelet /var/log/pods /etc/cni/net.d -mindepth 1 -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /root \
  -o -path /var/lib/containerd -o -path /var/log/journal -o -path '/var/tmp/systemd-private-*' -o -path '/var/lib/kubelet/pods/*' \) \
  -prune -o -printf '%y %B@ %C@ %p\n' | sort -u
`;

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly managedFields?: readonly { readonly manager: string; readonly time?: string }[];
  };
}

/** Of each object that gardenadm or its agents have written, all times at which they have. */
async function ownObjects(client: KubeClient): Promise<readonly Written[]> {
  const { groups } = (await client.get("/apis")) as {
    groups: readonly { preferredVersion: { groupVersion: string } }[];
  };
  const found: Written[] = [];
  for (const base of ["/api/v1", ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]) {
    const { resources } = (await client.get(base)) as {
      resources: readonly { name: string; kind: string; verbs: readonly string[] }[];
    };
    for (const { name, kind } of resources.filter((one) => one.verbs.includes("list") && !one.name.includes("/"))) {
      const { items } = (await client.get(`${base}/${name}`)) as { items: readonly Listed[] };
      found.push(...items.flatMap((item) => writesOf(kind, item)));
    }
  }
  return found;
}

/** Field managers of gardenadm and its agents. */
const OWN = ["perennial", "gardenadm", "gardener-node-agent"];

function writesOf(kind: string, { metadata: { name, namespace = "", managedFields = [] } }: Listed): Written[] {
  return managedFields
    .filter(({ manager, time }) => OWN.includes(manager) && time !== undefined)
    .map(({ time = "" }) => ({
      what: `${kind} ${namespace}/${name} at ${time}`,
      at: Date.parse(time),
      isFile: false,
      isNamedBy: ({ objects = {} }) => objects[namespace]?.includes(kind) === true,
    }));
}
