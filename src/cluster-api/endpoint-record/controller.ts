import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";
import { createController, inWords, refOf, type NamespacedKey } from "../../kube/index.ts";
import type { Again } from "../again.ts";
import { unasked, unproved, type probeEndpoint } from "../endpoint/probe.ts";
import type { Trust } from "../endpoint/trust.ts";
import { isSameEndpoint } from "../endpoint/value.ts";
import { readyCondition } from "../endpoint/verdict.ts";
import { findCondition, type Said } from "../objects/conditions.ts";
import { isLeftToMove, isPaused, pausedSaid } from "../objects/paused.ts";
import { say } from "../objects/say.ts";
import { keepWhatStays, letGoOfMoved } from "../objects/stay.ts";
import { startWhenSynced, type ClusterApiDeps, type Part } from "../part.ts";
import { adoptRecord } from "./adopt.ts";
import { createClaims, type Claims } from "./claims.ts";
import { ensureClusterEndpoint } from "./cluster-endpoint.ts";
import { createMemberProber, type Target } from "./member-prober.ts";
import { membersOf, type Member } from "./members.ts";
import { createHolders } from "./holders.ts";
import { handOverLeft } from "./left.ts";
import { notePublished } from "./note-published.ts";
import { publish } from "./publish.ts";
import { publishedSaid } from "./published.ts";
import { removeRecord } from "./remove.ts";
import { servingSaid } from "./serving.ts";
import { createWatched } from "./watched.ts";

/** How API servers are asked whether they serve; times are ms. */
export interface EndpointRecordOptions {
  /** How often each; three seconds unless told otherwise. */
  readonly period?: number;
  readonly probe?: typeof probeEndpoint;
  /** Which names are given already; none unless told otherwise. */
  readonly claims?: Claims;
}

/**
 * Gives each EndpointRecord's Cluster an endpoint at once, by a ClusterEndpoint, and has the name lead to those of its control-plane
 * Machines that serve, by a DNSRecord that any DNS extension of Gardener's handles.
 */
export function createEndpointRecordController(
  deps: ClusterApiDeps,
  { claims = createClaims(), ...probing }: EndpointRecordOptions = {},
): Part {
  const { management: client } = deps;
  const log = deps.log.child({ part: "endpoint-record" });

  async function reconcile(key: NamespacedKey): Promise<void | Again> {
    const record = watched.record(key);
    const cluster = record && watched.cluster(clusterOf(record));
    const wait = (): void => prober.follow(key, []);
    if (cluster !== undefined) await keepWhatStays(client, cluster, [record]); // the watch brings it again
    if (record === undefined) {
      wait();
      claims.forget(key);
      return await handOverLeft(client, key);
    }
    if (isLeftToMove(record)) {
      wait();
      return await letGoOfMoved(client, cluster, record, ENDPOINT_RECORD_FINALIZER);
    }
    if ([record, cluster].some((one) => one !== undefined && isPaused(one))) {
      wait();
      return await say(client, record, [pausedSaid(true)]);
    }
    if (record.metadata.deletionTimestamp !== undefined) {
      wait();
      const hasName = (await whyTaken(record)) === undefined;
      return await removeRecord(client, record, { hasName, hasDnsRecords: watched.hasDnsRecords() });
    }
    const taken = await whyTaken(record);
    if (taken !== undefined) return await refuse(record, "NameTaken", taken);
    if (cluster === undefined)
      return await refuse(record, "WaitingForCluster", `there is no Cluster ${record.spec.cluster} in this namespace`);
    const kept = await adoptRecord(client, record, cluster);
    if (kept === undefined) return; // the watch brings it
    if (await ensureClusterEndpoint(client, kept)) return await lead(kept);
    await refuse(kept, "EndpointTaken", `ClusterEndpoint ${key.name} exists, and is another's`);
  }

  /** Which other record has the name of this one, in words. One that is alone with its name has it, whatever it lacks. */
  async function whyTaken(record: EndpointRecord): Promise<string | undefined> {
    const { name } = record.spec;
    const holder = await holders.holderOf(name);
    const isOther = holder !== undefined && holder.metadata.uid !== record.metadata.uid;
    return isOther ? `${name} is taken by ${inWords(refOf(holder))}` : undefined;
  }

  /** Says why nothing is made for a record. */
  async function refuse(record: EndpointRecord, reason: string, message: string): Promise<void> {
    prober.follow(record.metadata, []);
    const published = publishedSaid("False", reason, message);
    await say(client, record, [published, readyCondition(published, published), pausedSaid(false)]);
  }

  /** Has the name lead to the API servers that serve, and says what came of it. */
  async function lead(record: EndpointRecord): Promise<void | Again> {
    const members = membersOf(watched.machinesOf(clusterOf(record)));
    const trust = watched.trust(clusterOf(record));
    const targets = trust === undefined ? [] : members.map((member) => targetOf(record, member, trust));
    prober.follow(record.metadata, targets);
    const servingOf = ({ name }: Member) =>
      trust === undefined ? unproved(record.spec.cluster) : prober.servingOf(record.metadata, name);
    const serves = (member: Member) => {
      const serving = servingOf(member);
      return serving && serving.status === "True";
    };
    const hasCredentials = watched.hasCredentials(record);
    const heard = { members, serves, hasCredentials, hasDnsRecords: watched.hasDnsRecords() };
    const { said, published: values, requeueAfter } = await publish(client, record, heard);
    if (values && !(await notePublished(client, record, values))) return; // the watch brings it
    const published = said ?? saidIn(record, "Published") ?? unpublished;
    const untold = trust === undefined ? untoldOf(record, members) : undefined;
    const serving = untold ?? servingSaid(members, servingOf) ?? saidIn(record, "Serving") ?? unasked;
    const all = [published, serving, readyCondition(published, serving), pausedSaid(false)];
    await say(client, record, all, values && { addresses: values.values });
    return requeueAfter === undefined ? undefined : { requeueAfter };
  }

  const controller = createController<NamespacedKey>({ name: "endpoint-record", reconcile, concurrency: 8, log });
  const prober = createMemberProber({ onChange: (key) => controller.enqueue(key), log, ...probing });
  const watched = createWatched({
    ...{ client, log, watches: deps.watches },
    onRecord: (key) => controller.enqueue(key),
    onName: (name) => holders.changed(name),
  });
  const holders = createHolders({
    ...{ client, claims, watched, log },
    onChange: (name) => watched.recordsNamed(name).forEach(({ metadata }) => controller.enqueue(metadata)),
  });

  return startWhenSynced(watched, [controller, holders, prober], log);
}

const clusterOf = ({ metadata: { namespace }, spec: { cluster } }: EndpointRecord): NamespacedKey => ({
  namespace,
  name: cluster,
});

/** An API server is asked under the record's name, as clients will; under another where the kubeconfig says so for that endpoint. */
function targetOf(
  { spec: { name, port } }: EndpointRecord,
  { name: machine, addresses }: Member,
  trust: Trust,
): Target {
  const endpoint = { host: addresses[0], port };
  const { ca, server, serverName = name } = trust;
  const isLedHere = isSameEndpoint(server, { host: name, port });
  return { machine, endpoint, trust: { ca, server: endpoint, serverName: isLedHere ? serverName : name } };
}

/** Without the Secret by which API servers are known, none can be asked. */
const untoldOf = ({ spec }: EndpointRecord, members: readonly Member[]): Said | undefined =>
  members.length > 0 ? unproved(spec.cluster) : undefined;

const saidIn = ({ status }: EndpointRecord, type: string): Said | undefined => {
  const found = findCondition(status?.conditions, type);
  return found && { type, status: found.status, reason: found.reason, message: found.message };
};

const unpublished = publishedSaid("Unknown", "Publishing", "the name is on its way into the DNS");
