import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { ControllerInstallation, Seed, Shoot, type KubeObject } from "../src/api/index.ts";
import { createRegistrationController } from "../src/controllers/registration/registration.ts";
import { refTo, type KubeClient } from "../src/kube/index.ts";
import { createLogger } from "../src/log.ts";
import { exampleObjects } from "../test/support/examples.ts";
import { atMost } from "./at-most.ts";
import { seconds, type Bench, type Findings, type Ground } from "./bench.ts";
import { counting, isWatch, type Requests } from "./counting-client.ts";

/** What a change of one registration, Shoot or Seed costs the manager, where there are many: time and API requests. */
export const registration: Bench = { name: "registration", measure };

async function measure({ controlPlane, shoots, short, say }: Ground): Promise<Findings> {
  const { client } = controlPlane;
  const size = short ? { seeds: 5, registrations: 10, shoots: 20 } : { seeds: 50, registrations: 200, shoots };
  say(`making ${size.registrations} registrations, ${size.seeds} Seeds and ${size.shoots} Shoots`);
  const world = await makeWorld(client, size);
  const requests: Requests = {};
  const log = createLogger({ name: "bench", level: "silent" });
  const flows = { nudge: async () => {} };
  const controller = createRegistrationController({
    gardenClient: counting(client, "garden", requests),
    flows,
    events: { record() {} },
    log,
  });
  try {
    const cost = createMeter(client, requests);
    const first = await cost(world.installations, async () => controller.start());
    say("one Shoot more, one registration, one Seed");
    const known = await cost(world.installations, () => world.addShoot("known", 0));
    const added = await cost(world.installations + 1, () => world.addShoot("added", size.registrations));
    const changed = await cost(world.installations + 1, () => world.changeRegistration(1), world.isChanged(1));
    const told = await cost(world.installations + 1, () => world.changeSeed(1), world.isTold(1));
    const gone = await cost(world.installations, () => world.removeShoot("added"));
    return {
      figures: { installations: world.installations, first, known, added, changed, told, gone },
      tables: [
        {
          title: `${size.registrations} registrations, ${size.seeds} Seeds, ${size.shoots} Shoots: ${world.installations} installations`,
          rows: [
            ["from nothing to all installations", inWords(first)],
            ["a Shoot more that needs what is installed", inWords(known)],
            ["a Shoot more that needs something new", inWords(added)],
            ["a registration changes", inWords(changed)],
            ["a Seed changes", inWords(told)],
            ["the last Shoot that needed something goes", inWords(gone)],
          ],
        },
      ],
    };
  } finally {
    await controller.stop();
  }
}

interface Size {
  readonly seeds: number;
  readonly registrations: number;
  readonly shoots: number;
}

/** Each Shoot needs one of the registered Network types, on one of the Seeds. */
async function makeWorld(client: KubeClient, { seeds, registrations, shoots }: Size) {
  const examples = await exampleObjects();
  const example = <T extends KubeObject>(kind: string): T => {
    const found = examples.find((object) => object.kind === kind);
    if (found === undefined) throw new Error(`deploy/examples has no ${kind}`);
    return found as T;
  };
  const [seed, shoot] = [example<Seed>("Seed"), example<Shoot>("Shoot")];
  const core = "core.gardener.cloud/v1beta1";
  const shootOn = (name: string, type: number, on: number) => ({
    ...shoot,
    metadata: { name, namespace: shoot.metadata.namespace },
    spec: {
      ...shoot.spec,
      seedName: `registration-${on}`,
      networking: { ...shoot.spec.networking, type: `net-${type}` },
    },
  });
  const register = (index: number, values: object) =>
    client.apply({
      apiVersion: core,
      kind: "ControllerRegistration",
      metadata: { name: `net-${index}` },
      spec: {
        resources: [{ kind: "Network", type: `net-${index}` }],
        deployment: { type: "helm", providerConfig: { chart: "H4sI", values } },
      },
    });
  const all = (count: number, make: (index: number) => Promise<unknown>) =>
    atMost(
      20,
      Array.from({ length: count }, (_, index) => index),
      make,
    );
  await all(seeds, (index) =>
    client.apply({ ...seed, metadata: { name: `registration-${index}` }, spec: { ...seed.spec, backup: undefined } }),
  );
  await all(registrations + 1, (index) => register(index, {}));
  const placeOf = (index: number) =>
    [index % registrations, Math.floor(index / registrations + index) % seeds] as const;
  await all(shoots, (index) => client.create(shootOn(`registration-${index}`, ...placeOf(index))));
  const places = new Set(Array.from({ length: shoots }, (_, index) => placeOf(index).join(" ")));
  const labelsOf = (installation: ControllerInstallation) => installation.metadata.labels ?? {};
  const before = new Map<string, string | undefined>();
  const isNew =
    (label: string, of: (one: ControllerInstallation) => boolean) => (found: readonly ControllerInstallation[]) =>
      found.filter(of).every((one) => labelsOf(one)[label] !== before.get(`${label} ${one.metadata.name}`));
  const remember = async (label: string) => {
    for (const one of await client.list(ControllerInstallation))
      before.set(`${label} ${one.metadata.name}`, labelsOf(one)[label]);
  };
  return {
    installations: places.size,
    addShoot: async (name: string, type: number) =>
      void (await client.create(shootOn(`registration-${name}`, type, 0))),
    removeShoot: (name: string) =>
      client.remove(refTo(Shoot, { namespace: shoot.metadata.namespace, name: `registration-${name}` })),
    async changeRegistration(index: number) {
      await remember("registration-spec-hash");
      return async () => void (await register(index, { changed: true }));
    },
    isChanged: (index: number) =>
      isNew("registration-spec-hash", ({ spec }) => spec.registrationRef.name === `net-${index}`),
    async changeSeed(index: number) {
      await remember("seed-spec-hash");
      const ref = refTo(Seed, { name: `registration-${index}` });
      return async () => void (await client.patch(ref, { metadata: { labels: { told: "yes" } } }));
    },
    isTold: (index: number) => isNew("seed-spec-hash", ({ spec }) => spec.seedRef?.name === `registration-${index}`),
  };
}

interface Cost {
  /** Milliseconds until all installations were right. */
  readonly ms: number;
  /** API requests of the manager, lists and watches apart. */
  readonly requests: number;
}

/** Does something, and looks until the installations are as they should be: so many, and as `right` says. */
function createMeter(client: KubeClient, requests: Requests) {
  const count = () => Object.entries(requests).reduce((sum, [sort, made]) => (isWatch(sort) ? sum : sum + made), 0);
  return async (
    installations: number,
    prepare: () => Promise<void | (() => Promise<void>)>,
    right: (found: readonly ControllerInstallation[]) => boolean = () => true,
  ): Promise<Cost> => {
    const made = count();
    let begun = performance.now();
    const act = await prepare();
    if (act !== undefined) {
      begun = performance.now();
      await act();
    }
    for (;;) {
      const at = performance.now();
      const found = (await client.list(ControllerInstallation)).filter(({ metadata }) => !metadata.deletionTimestamp);
      if (found.length === installations && right(found)) {
        await sleep(1_000); // what else it would do on this account
        return { ms: at - begun, requests: count() - made };
      }
      if (at - begun > LONGEST) throw new Error(`${found.length} installations, and ${installations} were to be there`);
      await sleep(20);
    }
  };
}

/** In ms. */
const LONGEST = 300_000;

const inWords = ({ ms, requests }: Cost): string => `${seconds(ms)}, ${requests} requests`;
