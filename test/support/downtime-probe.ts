import { request } from "node:https";
import type { LookupFunction } from "node:net";
import { Resolver } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";

/** A client of a Shoot's API server that never gives up: what it saw from outside. */
export interface DowntimeProbe {
  /** How many questions have had their outcome. */
  probes(): number;
  /** Ends it. */
  stop(): Promise<Downtime>;
}

/** When the API server did not answer. Times are ms, moments by `Date.now()`. */
export interface Downtime {
  readonly probes: number;
  readonly failed: number;
  /** From the last answer before the longest gap to the first after it. */
  readonly longestGap: number;
  /** Where that gap begins. */
  readonly gapBegan: number;
  /** Of all. */
  readonly firstAnswer: number;
  readonly lastAnswer: number;
}

/** Where a probe looks for the API server: at whatever address a DNS server gives at that moment, or at one address. */
export type ProbedPlace = ({ readonly dnsServer: string } | { readonly address: string }) & {
  /** In ms: how long it waits for the DNS server, and for the API server; 1 s unless told otherwise. */
  readonly timeout?: number;
};

/** Reads a path from the API server every 200 ms, over a new connection each time, as a client of the Shoot would. */
export function startDowntimeProbe(kubeconfig: string, path: string, place: ProbedPlace): DowntimeProbe {
  const { host, port, ca, headers } = readKubeconfig(kubeconfig);
  const { timeout = 1_000 } = place;
  const lookup = createLookup(place, timeout);
  const probe = () =>
    new Promise<boolean>((resolve) => {
      const options = { host, port, path, ca, headers, lookup, agent: false, timeout };
      const call = request(options, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      call.on("error", () => resolve(false)).on("timeout", () => call.destroy());
      call.end();
    });

  const answered: number[] = [];
  let counts = { probes: 0, failed: 0 };
  let stopped = false;
  const probing = (async () => {
    while (!stopped) {
      const begin = performance.now();
      const ok = await probe();
      counts = { probes: counts.probes + 1, failed: counts.failed + (ok ? 0 : 1) };
      if (ok) answered.push(performance.timeOrigin + performance.now());
      await sleep(Math.max(0, 200 - (performance.now() - begin)));
    }
  })();
  return {
    probes: () => counts.probes,
    async stop() {
      stopped = true;
      await probing;
      return { ...counts, ...judge(answered) };
    },
  };
}

function createLookup(place: ProbedPlace, timeout: number): LookupFunction {
  const resolver = new Resolver({ timeout, tries: 1 });
  if ("dnsServer" in place) resolver.setServers([place.dnsServer]);
  const find = async (host: string) => ("address" in place ? [place.address] : await resolver.resolve4(host));
  return (host, options, callback) => {
    find(host).then(
      ([address = ""]) => (options.all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4)),
      (error: Error) => callback(error, "", 4),
    );
  };
}

/** An API server that never answered has neither a first nor a last answer. */
function judge(answered: readonly number[]) {
  const gaps = answered.map((time, index) => ({ gapBegan: answered[index - 1] ?? time, time }));
  const [longest] = gaps.toSorted((a, b) => b.time - b.gapBegan - (a.time - a.gapBegan));
  const { gapBegan, time } = longest ?? { gapBegan: Number.NaN, time: Number.NaN };
  return {
    longestGap: Math.round(time - gapBegan),
    gapBegan,
    firstAnswer: answered[0] ?? Number.NaN,
    lastAnswer: answered.at(-1) ?? Number.NaN,
  };
}

function readKubeconfig(text: string) {
  const { clusters, users } = parse(text) as Kubeconfig;
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const url = new URL(cluster.server);
  const decode = (base64: string) => Buffer.from(base64, "base64").toString();
  return {
    host: url.hostname,
    port: url.port || "443",
    ca: decode(cluster["certificate-authority-data"]),
    headers: { authorization: `Bearer ${user.token}` },
  };
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { server: string; "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}
