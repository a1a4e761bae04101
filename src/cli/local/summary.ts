import type { EnvironmentStatus } from "../../local/environment/status.ts";
import { renderTable } from "../display/table.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { formatAge } from "../display/time.ts";
import { wrap } from "../display/wrap.ts";
import { describeAiling, describeDown, stateOf } from "../report/ailing.ts";

/** What an environment is good for, once it is up. */
export function renderSummary(out: Output, status: EnvironmentStatus): string {
  const garden = status.clusters.find(({ name }) => name === "garden");
  const lines = [
    paint(out, "strong", `Environment ${status.name} is up.`),
    ...(garden ? [`Garden:       export KUBECONFIG=${garden.kubeconfig}`] : []),
    ...(status.temporal ? [`Temporal UI:  ${status.temporal.ui}`] : []),
    `Logs:         ${status.stateDir}/logs`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Everything that runs in an environment, in tables. */
export function renderStatus({ width }: Output, status: EnvironmentStatus, now: number): string {
  const { clusters, processes, machines, temporal, dns } = status;
  const clusterTable = renderTable(
    clusters,
    [
      { title: "CLUSTER", value: ({ name }) => name },
      { title: "SERVER", rank: 1, value: ({ server }) => server },
      { title: "KUBECONFIG", value: ({ kubeconfig }) => kubeconfig },
    ],
    width,
  );
  const processTable = renderTable(
    processes,
    [
      { title: "PROCESS", value: ({ name }) => name },
      { title: "STATUS", value: (process) => stateOf(process) },
      { title: "PID", value: ({ pid }) => pid },
      { title: "MEMORY", value: ({ rssBytes }) => rssBytes && `${Math.round(rssBytes / 1_048_576)}Mi` },
      { title: "RESTARTS", rank: 2, value: ({ restarts }) => restarts },
      { title: "AGE", value: ({ startedAt }) => formatAge(startedAt, now) },
    ],
    width,
  );
  const machineTable = renderTable(
    machines,
    [
      { title: "MACHINE", value: ({ name }) => name },
      { title: "STATUS", value: ({ running }) => (running ? "Running" : "Dead") },
      { title: "ADDRESS", value: ({ address }) => address },
      { title: "AGE", value: ({ createdAt }) => formatAge(createdAt, now) },
    ],
    width,
  );
  const addresses = [
    `Environment ${status.name} in ${status.stateDir}`,
    ...(temporal ? [`Temporal ${temporal.address}, UI ${temporal.ui}`] : []),
    ...(dns ? [`DNS ${dns.address} for ${dns.domain}`] : []),
  ];
  const remedies = [...describeAiling(processes, status.name), ...describeDown(machines, status.name)];
  const ailing = remedies.map((line) => `${wrap(line, width)}\n`);
  const tables = [clusterTable, processTable, ...(machines.length > 0 ? [machineTable] : [])];
  return `${addresses.join("\n")}\n\n${[...tables, ...(ailing.length > 0 ? [ailing.join("")] : [])].join("\n")}`;
}
