import { expect } from "vitest";
import { endpointFirst } from "../support/kills/endpoint-first.ts";
import { killTest as test, type Fate } from "../support/kills/lab.ts";
import { inWords, liveKilled, type Doom, type KillScenario } from "../support/kills/life.ts";
import { managed } from "../support/kills/managed.ts";
import { record } from "../support/kills/record.ts";
import { withCredentials } from "../support/kills/with-credentials.ts";

const dies = (moment: Fate["moment"], write: string): Fate => ({ of: "cluster-api", moment, write, occurrence: 1 });

const core = "/apis/core.gardener.cloud/v1beta1";
const bindings = "/apis/security.gardener.cloud/v1alpha1/namespaces/garden-dev/credentialsbindings";
const shoots = `${core}/namespaces/garden-dev/shoots`;
const reservations = "/apis/perennial.dev/v1alpha1/domainreservations";
const dnsRecords = "/apis/extensions.gardener.cloud/v1alpha1/namespaces/garden-dev/dnsrecords";

/** A sample of the whole matrix in test/cluster-api-whole: where most would be lost. */
const sample: readonly (readonly [KillScenario, Doom["fates"]])[] = [
  [managed, { made: dies("after", `POST ${shoots}`), deleted: dies("before", `DELETE ${shoots}/NAME`) }],
  [
    withCredentials,
    { made: dies("before", `POST ${bindings}`), deleted: dies("after", `DELETE ${bindings}/cluster-api-NAME`) },
  ],
  [
    endpointFirst,
    { made: dies("after", `POST ${reservations}`), deleted: dies("before", `DELETE ${reservations}/NAME.example.com`) },
  ],
  [record, { made: dies("before", `POST ${dnsRecords}`), deleted: dies("before", `DELETE ${dnsRecords}/NAME`) }],
];

test("the process makes and deletes all four kinds of Clusters, although it dies where most would be lost", async ({
  lab,
}) => {
  const lives = sample.map(([scenario, fates], index) => liveKilled(lab, scenario, { name: `sample-${index}`, fates }));
  const came = (await Promise.all(lives)).flat();
  expect(came.map(inWords)).toEqual(
    sample.flatMap(([, { made, deleted }]) => [made, deleted].map((one) => one && inWords(one))),
  );
});
