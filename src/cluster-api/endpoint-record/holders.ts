import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { createController, type Key, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { Claims } from "./claims.ts";
import { readDnsRecord } from "./dns-record.ts";
import { alone, claimantsOf, hasDnsRecord, type Seen } from "./rivals.ts";

/** The records with one name, as the watches know them. */
export interface HoldersDeps {
  readonly client: KubeClient;
  readonly claims: Claims;
  readonly watched: Seen & { recordsNamed(name: string): readonly EndpointRecord[] };
  /** Called when another record has a name than before. */
  onChange(name: string): void;
  readonly log: Logger;
}

/** The EndpointRecord that has each name: decided once for all that want it, and again when something has changed that counts. */
export interface Holders {
  /** Undefined where no record competes for the name. */
  holderOf(name: string): Promise<EndpointRecord | undefined>;
  /** Has a name decided again. */
  changed(name: string): void;
  start(): void;
  stop(): Promise<void>;
}

/** Decides by the watches: any user may write hundreds of records with one name, and each of them asks who has it. */
export function createHolders({ client, claims, watched, onChange, log }: HoldersDeps): Holders {
  const decisions = new Map<string, Promise<EndpointRecord | undefined>>();
  const last = new Map<string, Promise<void>>();
  const reported = new Map<string, string | undefined>();

  async function decide(name: string): Promise<EndpointRecord | undefined> {
    const records = watched.recordsNamed(name);
    const [first, ...others] = records;
    if (first === undefined || others.length === 0) return claims.holderOf(name, first ? [alone(first)] : []);
    const claimants = await claimantsOf(watched, records);
    const uid = claims.uidOf(name);
    const before = records.find(({ metadata }) => uid !== undefined && metadata.uid === uid);
    if (before === undefined || claims.choose(name, claimants) === before) return claims.holderOf(name, claimants);
    // The watch may be behind, and two records that both have their name in the DNS would take it from each other.
    if (!(await hasDnsRecord({ dnsRecord: (key) => readDnsRecord(client, key) }, before)))
      return claims.holderOf(name, claimants);
    const rest = claimants.filter(({ record }) => record !== before);
    return claims.holderOf(name, [{ record: before, stage: "published" }, ...rest]);
  }

  function report(name: string, holder: EndpointRecord | undefined): void {
    const [known, uid] = [reported.get(name), holder?.metadata.uid];
    const isNews = reported.has(name) && known !== uid;
    if (watched.recordsNamed(name).length > 0) reported.set(name, uid);
    else for (const one of [reported, decisions]) one.delete(name);
    if (isNews) onChange(name);
  }

  /** Decisions about one name follow each other: none is made without what the one before it has noted. */
  function decisionOf(name: string): Promise<EndpointRecord | undefined> {
    const present = decisions.get(name);
    if (present !== undefined) return present;
    const decision = (last.get(name) ?? Promise.resolve()).then(async () => {
      const holder = await decide(name);
      report(name, holder);
      return holder;
    });
    decisions.set(name, decision);
    const failed = () => void (decisions.get(name) === decision && decisions.delete(name)); // who asks next has it decided again
    const ended: Promise<void> = decision
      .then(() => {}, failed)
      .finally(() => last.get(name) === ended && last.delete(name));
    last.set(name, ended);
    return decision;
  }

  const names = createController<Key>({
    name: "endpoint-record-holders",
    log,
    reconcile: async ({ name }) => void (await decisionOf(name)),
  });

  return {
    holderOf: decisionOf,
    changed(name) {
      decisions.delete(name);
      names.enqueue({ name });
    },
    start: names.start,
    stop: names.stop,
  };
}
