import { spawn } from "node:child_process";
import { once } from "node:events";
import { minutes } from "../../api/extensions/define-extension.ts";
import { extensionKinds, type ExtensionKind } from "../../api/extensions/kinds.ts";
import type { TrialDeps } from "../../conformance/stage.ts";
import type { Report } from "../../conformance/verify.ts";
import { defineCommand } from "../command.ts";
import { CliError } from "../exit.ts";
import { demanded, choice, duration, flag, text } from "../option.ts";
import { printObject } from "../display/output.ts";
import { readSubject } from "./subject.ts";
import { renderJunit } from "./junit.ts";
import { renderReport } from "./report.ts";

/** `perennial extension verify` */
export const verify = defineCommand({
  name: "verify",
  summary:
    "Judge an extension's controller by Gardener's contract, clause by clause; in whatever language it is written",
  description:
    "Plays the caller's part in the cluster where the controller runs: writes namespaces, Clusters, Secrets and extension " +
    "objects of Shoots that do not exist, listens to what the controller writes, and deletes all of it again. It is for " +
    "clusters of tests: the controller builds what such objects ask for. Fails where a clause is broken.",
  examples: [
    "perennial extension verify --kind Infrastructure --type local --kubeconfig seed.yaml",
    "perennial extension verify --kind Worker --type aws --kubeconfig seed.yaml --spec worker.yaml --objects secrets.yaml",
    "perennial extension verify --kind Network --type calico --kubeconfig seed.yaml --restart-command 'systemctl kill -s KILL calico'",
  ],
  args: {},
  options: {
    kind: demanded(
      choice(Object.keys(extensionKinds) as ExtensionKind[], "Kind of the objects"),
      "--kind is missing: say which kind of object is to be judged",
    ),
    type: demanded(text("type", "Their spec.type"), "--type is missing: say the objects' spec.type"),
    kubeconfig: demanded(
      text("file", "Kubeconfig of the cluster where the controller looks for them"),
      "--kubeconfig is missing: name the cluster of the controller",
    ),
    providerConfig: text("file", "YAML of spec.providerConfig"),
    failingConfig: text("file", "YAML of a spec.providerConfig that fails [the Secret of spec.secretRef is left out]"),
    spec: text("file", "YAML of fields of spec, in place of the ones that would be chosen"),
    cluster: text("file", "YAML of fields of the Cluster's spec, laid over those that would be chosen"),
    objects: text("file", "Manifests of what else it needs in a Shoot's namespace, such as Secret cloudprovider"),
    restartCommand: text("command", "Command of a shell that kills the controller and starts it again"),
    timeout: duration("How long an operation may take [what flows give the kind]"),
    settle: duration("How long nothing must happen where nothing may [3s]"),
    oneByOne: flag("Play one Shoot after the other: what the controller needs can be one Shoot's only"),
    output: choice(["json", "junit"], "Output", "o"),
  },
  async run({ options, context: { terminal, signal } }) {
    const { kind, type, kubeconfig: file, restartCommand } = options;
    const restart = restartCommand === undefined ? {} : { restart: () => runInShell(restartCommand) };
    const subject = { kind, type, ...(await readSubject(options)), ...restart };
    const { timeout = deadlineOf(kind), settle = 3_000, oneByOne } = options;
    const report = await judgeIn(file, { subject, pace: { timeout, settle, oneByOne }, signal });
    if (options.output === "json") printObject(terminal.out, report, "json");
    else terminal.out.write(options.output === "junit" ? renderJunit(report) : renderReport(terminal.out, report));
    return report.clauses.some(({ verdict }) => verdict === "failed") || report.left.length > 0 ? "failed" : "done";
  },
});

/** What flows wait for the kind; kinds that no flow writes are given upstream's usual time. */
function deadlineOf(kind: ExtensionKind): number {
  const { contract } = extensionKinds[kind];
  return "deadline" in contract ? contract.deadline : minutes(3);
}

async function judgeIn(file: string, trial: Omit<TrialDeps, "client" | "log">): Promise<Report> {
  const [{ createKubeClient }, { verifyExtension }, { createLogger }] = await Promise.all([
    import("../../kube/index.ts"),
    import("../../conformance/verify.ts"),
    import("../../log.ts"),
  ]);
  const client = createKubeClient({ file }, { userAgent: "perennial-cli" });
  try {
    return await verifyExtension({ ...trial, client, log: createLogger({ name: "verify", level: "silent" }) });
  } finally {
    await client.close();
  }
}

/** Its output is the user's to see, on the side of messages. Throws when it fails. */
async function runInShell(command: string): Promise<void> {
  const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", process.stderr, process.stderr] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new CliError("failed", `the restart command failed with exit code ${code}: ${command}`);
}
