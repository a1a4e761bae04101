import type { Contradiction } from "../contradictions.ts";

const table = "src/workflows/reconcile-self-hosted.ts";

/** Of GEP-28's page: what init makes, and what keeps it so. */
export const ofGep28Init: readonly Contradiction[] = [
  {
    promise: "configuration in separate files",
    file: "src/gardenadm/configuration/documents.ts",
    find: 'return apiVersion === "v1" && kind === "List" && Array.isArray(items)',
    put: 'return apiVersion === "v2" && kind === "List" && Array.isArray(items)',
  },
  {
    promise: "no garden is asked",
    test: "are made from the configuration's files alone",
    file: "src/gardenadm/cluster/control-plane.ts",
    find: "  const uid = metadata.uid ?? randomUUID();\n",
    put: '  const { uid } = metadata;\n  if (uid === undefined) throw new Error("create the Shoot in its garden first");\n',
  },
  {
    promise: "1: authorities, certificates, keys",
    test: "are made from the configuration's files alone",
    file: "src/gardenadm/init/actions.ts",
    find: "      await ensureSecrets(clients.directory(), ",
    put: "      await rm(places.cluster, { recursive: true, force: true });\n      await ensureSecrets(clients.directory(), ",
  },
  {
    promise: "2: an OperatingSystemConfig in memory, for any system",
    test: "while no API server answers",
    file: "src/gardenadm/init/actions.ts",
    find: "      const client = clients.directory();\n      const found = await context(client);",
    put: "      const client = clients.server();\n      const found = await context(client);",
  },
  {
    promise: "3: it is applied by the node agent's code",
    test: "makes a bare machine",
    file: "src/node-agent/apply-machine.ts",
    find: "const todo = changes(last, next);",
    put: 'const todo = changes(last, next).filter((step) => step.do !== "restart");',
  },
  {
    promise: "4: the kubelet starts static pods",
    test: "stands by itself",
    file: "src/self-hosted/volumes.ts",
    find: 'return { volume: folder(name, volumeFolder(pod, name), "Directory"), files };',
    put: 'return { volume: folder(name, volumeFolder(pod, name), "Directory"), files: [] };',
  },
  {
    promise: "5: resource manager on the host's network",
    file: "src/components/on-nodes/host-phase.ts",
    find: "hostNetwork: true,",
    put: "hostNetwork: false,",
  },
  {
    promise: "6: extensions on the host's network",
    file: "src/gardenadm/reconcile/extensions.ts",
    find: 'place === "host" ? objects.map(inHostNetwork) : objects',
    put: "objects",
  },
  {
    promise: "metrics and webhook ports that do not clash",
    file: "src/gardenadm/preflight/ports.ts",
    find: "...Object.values(HOST_PORTS)",
    put: "...Object.values(HOST_PORTS).slice(1)",
  },
  {
    promise: "8: the Network makes the pod network",
    file: "src/provider-local/self-hosted/network.ts",
    find: "networkAgentObjects(image, podCIDR)",
    put: "networkAgentObjects(image, spec.serviceCIDR)",
  },
  {
    promise: "9: extensions in the pod network",
    file: table,
    find: 'extensionsInPods:      { do: call("moveExtensions")',
    put: 'extensionsInPods:      { do: call("deployExtensions")',
  },
  {
    promise: "10: resource manager in the pod network",
    file: "src/gardenadm/reconcile/actions.ts",
    find: 'moveResourceManagers: async (_, scope) => await resourceManagers("pods", scope)',
    put: 'moveResourceManagers: async (_, scope) => await resourceManagers("host", scope)',
  },
  {
    promise: "11: OperatingSystemConfigs in the cluster, a node agent",
    test: "takes a change over",
    file: "src/gardenadm/node-agent/round.ts",
    find: `  let lastApplied: string | undefined;
  return async (secret, signal) => {
    const order = readMachineOrder(secret);`,
    put: `  let lastApplied: string | undefined;
  let order: MachineOrder | undefined;
  return async (secret, signal) => {
    order ??= readMachineOrder(secret);`,
  },
  {
    promise: "12: the ControlPlane object",
    file: table,
    find: 'controlPlane:          { do: apply("ControlPlane")',
    put: 'controlPlane:          { do: apply("Network")',
  },
  {
    promise: "an API before there is a server",
    test: "a directory gives back",
    file: "src/kube/directory/files.ts",
    find: "    await rename(draft, file);\n",
    put: '    if (file.endsWith(".lock")) await rename(draft, file);\n',
  },
  {
    promise: "Deployments without replicas that webhooks change",
    test: "init finds nothing to do after it",
    file: "src/gardenadm/cluster/roll-out.ts",
    find: "for (const object of controlPlaneObjects(context)) workloads.push(await client.apply(object));",
    put: "for (const object of controlPlaneObjects(context)) workloads.push(object), await client.apply(object);",
  },
  {
    promise: "they are watched, and become static pods",
    file: "src/gardenadm/node-agent/workload-watch.ts",
    find: "return await renewStaticPods(deps);",
    put: 'return renewStaticPods.length > 5 ? "waiting" : "done";',
  },
  {
    promise: "the roll-out goes by OperatingSystemConfig and agent",
    file: "src/gardenadm/node-agent/turn.ts",
    find: '      if (holder !== "" && (await client.read(Node, { name: holder })) !== undefined) return holder;\n',
    put: "",
  },
  {
    promise: "etcd-druid takes etcd over",
    file: "src/etcd/find-stale.ts",
    find: "if (performance.now() - since >= silence) return { done: member };",
    put: "if (performance.now() - since >= silence) return { done: undefined };",
  },
  {
    promise: "BackupBucket and BackupEntry",
    file: "src/gardenadm/reconcile/backup-entry.ts",
    find: "backupEntryObject(context, made?.status?.providerStatus, name)",
    put: "backupEntryObject(context, undefined, name)",
  },
  {
    promise: "the control plane is reached from elsewhere (GEP-36)",
    test: "an extension leads to the healthy nodes",
    file: "src/gardenadm/cluster/exposure.ts",
    find: "const healthy = nodes.filter((node) => isReady(node));",
    put: "const healthy = nodes.filter((node) => node.status !== isReady);",
  },
  {
    promise: "beyond the document: `status`",
    test: "a worker whose",
    file: "src/gardenadm/status/certificate-steps.ts",
    find: 'role === "worker" && certificates.some(',
    put: 'role !== "worker" && certificates.some(',
  },
  {
    promise: "status and conditions, until there is a garden",
    file: "src/gardenadm/reconcile/operation-report.ts",
    find: 'before === undefined || (before.type === "Create" && before.state !== "Succeeded")',
    put: "before === undefined",
  },
  {
    promise: "status and conditions, until there is a garden",
    test: "conditions say which static pod",
    file: "src/gardenadm/node-agent/conditions.ts",
    find: "const controlPlane = [staticPods, extensions, snapshots]",
    put: "const controlPlane = [staticPods, extensions, snapshots].slice(1)",
  },
  {
    promise: "beyond the document: a killed command goes on",
    test: "what a killed command has left",
    file: "src/gardenadm/cluster/turn.ts",
    find: "const record = recordOf(client, `${machine.hostName}_${await machineId(machine.root)}`, timing);",
    put: "const record = recordOf(client, `${machine.hostName}_${await machineId(machine.root)}_${randomUUID()}`, timing);",
  },
  {
    promise: "beyond the document: certificates do not run out",
    test: "certificates of which 80 %",
    file: "src/activities/secrets/certificate-fit.ts",
    find: "now.getTime() < from + 0.8 * (to - from)",
    put: "now.getTime() < to",
  },
];
