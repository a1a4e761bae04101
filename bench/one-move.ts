import { createReflector, Pod, refTo, Secret, Service } from "../src/kube/index.ts";
import { startDowntimeProbe, type ProbedPlace } from "../test/support/downtime-probe.ts";
import { projectNamespace, type TestShoot } from "../test/support/e2e-shoots.ts";
import { eventually } from "../test/support/eventually.ts";
import type { LocalEnvironment, SeedName } from "../test/support/local-environment.ts";
import { momentsOf, readSteps, type Span } from "./move-timeline.ts";

/** A move, as clients of the Shoot, the histories of its flows and the seeds' pods tell it. Times are ms. */
export interface Move {
  /** What etcd held. */
  readonly bytes: number;
  /** How long clients had no API server that look it up by name; and from the last answer at its old address to the first at the new one. */
  readonly byName: number;
  readonly byAddress: number;
  /** When the last answer by name came. */
  readonly gapBegan: number;
  /** Everything that was seen. */
  readonly spans: readonly Span[];
}

/** Moves the Shoot and returns when the seed that it has left is cleaned up. */
export async function moveOnce(
  local: LocalEnvironment,
  shoot: TestShoot,
  { from, to, bytes }: { from: SeedName; to: SeedName; bytes: number },
): Promise<Move> {
  const kubeconfig = await published(local, shoot);
  const probe = (place: ProbedPlace) => startDowntimeProbe(kubeconfig, "/api/v1/namespaces/default", place);
  const begin = Date.now();
  const byName = probe({ dnsServer: local.environment.gateway });
  const oldAddress = probe({ address: await addressIn(local, shoot, from) });
  const pods = followPods(local, shoot);
  await local.perennial("shoot", "migrate", `${projectNamespace}/${shoot.name}`, "--to", to, "-y");
  const newAddress = probe({ address: await addressIn(local, shoot, to) });
  await eventually(async () => (await shoot.read())?.status?.lastOperation?.type === "Restore", 600_000);
  await shoot.settles("Succeeded", "Restore", 1_200_000);
  const [seen, old, young] = await Promise.all([byName.stop(), oldAddress.stop(), newAddress.stop()]);
  await eventually(async () => (await shoot.read())?.status?.seeds?.length === 1, 300_000);
  const flows = (["migrate", "restore"] as const).map((flow) => readSteps(local.temporal, shoot.ref, flow));
  const moments = [
    { what: "LAST ANSWER at the old address", begin: old.lastAnswer },
    { what: "FIRST ANSWER at the new address", begin: young.firstAnswer },
    { what: "LAST ANSWER by name", begin: seen.gapBegan },
    { what: "FIRST ANSWER by name", begin: seen.gapBegan + seen.longestGap },
  ];
  const spans = [...(await Promise.all(flows)).flat(), ...moments, ...(await pods.stop())];
  return {
    ...{ bytes, byName: seen.longestGap, byAddress: young.firstAnswer - old.lastAnswer, gapBegan: seen.gapBegan },
    spans: spans.filter((span) => span.begin >= begin),
  };
}

async function addressIn(local: LocalEnvironment, { technicalID }: TestShoot, seed: SeedName): Promise<string> {
  const service = refTo(Service, { namespace: technicalID, name: "kube-apiserver" });
  return await eventually(
    async () => (await local.seeds[seed].read(service))?.status?.loadBalancer?.ingress?.[0]?.ip ?? false,
    300_000,
  );
}

/** What became of the Shoot's pods in both seeds, and when that was seen. */
function followPods({ seeds, log }: LocalEnvironment, { technicalID }: TestShoot) {
  const seen = new Map<string, Span>();
  const reflectors = Object.entries(seeds).map(([seed, client]) =>
    createReflector(client, Pod, {
      namespace: technicalID,
      log,
      onEvent({ object, type }) {
        const moments = type === "deleted" ? [`pod ${object.metadata.name} is gone`] : momentsOf(object);
        for (const what of moments.map((moment) => `${seed}: ${moment}`))
          if (!seen.has(what)) seen.set(what, { what, begin: Date.now() });
      },
    }),
  );
  for (const reflector of reflectors) reflector.start();
  return {
    async stop(): Promise<Span[]> {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
      return [...seen.values()];
    },
  };
}

async function published(local: LocalEnvironment, { name }: TestShoot): Promise<string> {
  const secret = await local.gardenClient.read(Secret, { namespace: projectNamespace, name: `${name}.kubeconfig` });
  return Buffer.from(secret?.data?.["kubeconfig"] ?? "", "base64").toString();
}
