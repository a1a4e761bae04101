import type { Contradiction } from "../contradictions.ts";

/** Of GEP-1's page: what is kept, watched and moved, and who is let do what. */
export const ofGep1Moves: readonly Contradiction[] = [
  {
    promise: "`ShootState` in the garden, for each Shoot",
    file: "src/activities/state/layout.ts",
    find: "partBytes: 900_000",
    put: "partBytes: 2_900_000",
  },
  {
    promise: "It holds secrets such as `ca`",
    file: "src/activities/state/seal.ts",
    find: "data: encrypt(secret, gzipSync(JSON.stringify(content)), boundTo(id, place))",
    put: "data: JSON.stringify([content, typeof secret, boundTo(id, place).length])",
  },
  {
    promise: "It holds the state of each extension object",
    file: "src/activities/state/source.ts",
    find: "const references = resources.length === 0 ? {} : { resources };",
    put: "const references = {};",
  },
  {
    promise: "Every change is reflected immediately",
    file: "src/worker/mirror/mirror.ts",
    find: "setTimeout(enqueue, times.debounce)",
    put: "setTimeout(enqueue, times.resync)",
  },
  {
    promise: "Gardener is not always online",
    file: "src/worker/mirror/mirror.ts",
    find: "const { is, owner } = await findOwner(namespace);",
    put: "const { is, owner } = await findOwner(namespace).catch(() => ({ is: undefined, owner: undefined }));",
  },
  {
    promise: "Controllers reconstruct themselves from state and the real world",
    file: "src/extension/perform.ts",
    find: 'if (operation === "Restore") return actuator.restore(',
    put: 'if (operation === "Restore") return actuator.reconcile(',
  },
  {
    promise: "Gardener's own conditions",
    file: "src/activities/shoot/health.ts",
    find: "SystemComponentsHealthy: both(\n      apiServer.reached ? both(both(system, inside), reach) : system,",
    put: "SystemComponentsHealthy: both(\n      apiServer.reached ? both(both(controlPlane, inside), reach) : system,",
  },
  {
    promise: "Gardener's label of a Shoot's health",
    file: "src/controllers/shoot-status-label.ts",
    find: 'if (status === "Progressing") return "progressing";',
    put: 'if (status === "Progressing") return "healthy";',
  },
  {
    promise: "Conditions with `propagate=true` are copied to the Shoot",
    file: "src/activities/shoot/extension-reports.ts",
    find: "for (const { propagate, ...condition } of report.conditions) {",
    put: `for (const condition of report.conditions) {
      const { propagate } = condition;`,
  },
  {
    promise: "Shoot and backup controllers run in the seed and talk to its API server",
    file: "src/variables.ts",
    find: "The file of the seed's kubeconfig. After a 401 the process reads it again.\",\n    schema: path,\n    readBy: [",
    put: 'The file of the seed\'s kubeconfig. After a 401 the process reads it again.",\n    schema: path,\n    readBy: ["manager", ',
  },
  {
    promise: "The garden keeps CloudProfile, Project, Quota and Seed controllers",
    file: "src/controllers/protections.ts",
    find: `      ...(await shoots(client, undefined, names({ kind: CloudProfile.kind, name }))),
`,
    put: "",
  },
  {
    promise: 'A DNS `TXT` record `"Seed=seed-01"` names the leader',
    file: "src/dns/leader.ts",
    find: "`Seed=${seed}`",
    put: "`Leader=${seed}`",
  },
  {
    promise: "Gardener always keeps the record up to date",
    file: "src/activities/leadership/record.ts",
    find: "if (existing && isDone(existing, wanted) && dissent === undefined) return;",
    put: "if (existing && isDone(existing, wanted)) return;",
  },
  {
    promise: "`spec.leadership` with `record`, `value`, `leaseSeconds` in every object",
    file: "src/extension/leadership-guard.ts",
    find: "  if (isLeader(leader, own)) return;",
    put: '  if (leader.seed !== "") return;',
  },
  {
    promise: "Controllers check before every operation, otherwise they stop",
    file: "src/extension/leadership-guard.ts",
    find: "confirm: async () => requireLeader(leadership, await ask(record), who),",
    put: "confirm: (() => {\n            const first = ask(record);\n            return async () => requireLeader(leadership, await first, who);\n          })(),",
  },
  {
    promise: "The framework brings this out of the box",
    file: "src/extension/leadership-guard.ts",
    find: "duration: leaseSeconds * 1000,",
    put: "duration: leaseSeconds * 4000,",
  },
  {
    promise: "`.spec.cloud.seed` is changed to trigger a move",
    file: "src/admission/shoot/binding.ts",
    find: "return [...migrationCauses(change), ...bastionCauses(change)];",
    put: 'return [{ field, message: "cannot be changed" }];',
  },
  {
    promise: "Gardener changes the record's value",
    file: "src/activities/leadership/record.ts",
    find: `const answers = await lookup.askAll(publication.record);
    refuseLater`,
    put: `const answers = (await lookup.askAll(publication.record)).slice(0, 1);
    refuseLater`,
  },
  {
    promise: "It waits `2*60s`",
    file: "src/workflows/step-runner.ts",
    find: "2 * leaseSeconds : dnsTtl",
    put: "leaseSeconds : dnsTtl",
  },
  {
    promise: "It applies the CRDs with a preset `.status.state`",
    file: "src/extension/perform.ts",
    find: 'if (operation === "Restore") return actuator.restore(object, cluster, context);',
    put: 'if (operation === "Restore") return actuator.restore({ ...object, status: {} }, cluster, context);',
  },
  {
    promise: "Then the normal reconciliation flow runs",
    file: "src/workflows/restore.ts",
    find: 'kubeScheduler:         { do: deploy("kube-scheduler"),                     after: ["kubeApiServer"], when: [hasWorkers] },',
    put: 'kubeScheduler:         { do: deploy("kube-scheduler"),                     after: ["kubeApiServer"], when: [hasWorkers, awake] },',
  },
  {
    promise: "`.status.seeds` lists the seeds to be cleaned up",
    test: "names a seed until",
    file: "src/activities/shoot/status.ts",
    find: "{ seeds: seeds.filter((one) => one !== left) }",
    put: "{ seeds }",
  },
  {
    promise: "A seed that is not available any more (motivation)",
    test: "waits for approval",
    file: "src/workflows/restore.ts",
    find: 'fence:                 { do: onSource(call("raiseFence")),                 when: [moved, sourceAnswers] },',
    put: 'fence:                 { do: onSource(call("raiseFence")),                 when: [moved] },',
  },
  {
    promise: "The old control plane is deactivated",
    file: "src/fence/fence.ts",
    find: `if (leader !== undefined) {
    const { seed, epoch } = leader;`,
    put: `if (leader !== undefined && displaced !== undefined) {
    const { seed, epoch } = leader;`,
  },
  {
    promise: "`BackupInfrastructure` in the garden, for a grace period after deletion",
    test: "stay while their Shoot",
    file: "src/worker/backup/entry.ts",
    find: "const remaining = goneSince + grace - now();",
    put: "const remaining = goneSince - now();",
  },
  {
    promise: "`spec.seed`, `spec.shootUID`",
    file: "src/activities/backup/entry.ts",
    find: "shootRef: { apiVersion, kind, name, namespace },",
    put: "",
  },
  {
    promise: "The seed is changed in a move, and the object moves with it",
    file: "src/activities/backup/entry.ts",
    find: "const annotations = { [EPOCH_ANNOTATION]: String(epoch), ...previousBucket(existing, entry) };",
    put: "if (existing !== undefined) return;\n  const annotations = { [EPOCH_ANNOTATION]: String(epoch), ...previousBucket(existing, entry) };",
  },
];
