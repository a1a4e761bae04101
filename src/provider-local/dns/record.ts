import type { Cluster, DNSRecord } from "../../api/index.ts";
import { parseLeader } from "../../dns/index.ts";
import { ExtensionError, readSecret, type Actuator, type ActuatorContext } from "../../extension/index.ts";
import { Secret } from "../../kube/index.ts";
import { isLeadershipKey, requireOwnLeadershipRecord } from "./leadership-key.ts";
import { updateLeader } from "./leader-record.ts";
import { ForeignZone, partsOf, problemOf, updateRecords, type NameServer } from "./name-server.ts";

/** The DNS server and zone for records whose Secret doesn't name one. */
export interface DefaultNameServer {
  readonly server: NameServer;
  readonly zone: string;
}

/** Names in DNS by signed updates (RFC 2136); the record's Secret names the server and key, else the process does. */
export function createDnsRecordActuator(fallback?: DefaultNameServer): Actuator<DNSRecord, Cluster | undefined> {
  const write = async (object: DNSRecord, values: readonly string[], context: ActuatorContext) => {
    const { server, zone } = await findServer(object, context, fallback);
    const { name, recordType: type, ttl = 120 } = object.spec;
    const leader = type === "TXT" ? parseLeader(object.spec.values) : undefined;
    context.check();
    const { signal } = context;
    const record = { server, zone, name, ttl, signal };
    if (leader) await updateLeader(record, leader, values.length > 0);
    else await updateRecords(server, zone, { name, type, values, ttl }, { signal });
    return zone;
  };
  const reconcile: Actuator<DNSRecord, Cluster | undefined>["reconcile"] = async (object, _cluster, context) => {
    const zone = await write(object, object.spec.values, context);
    return {
      ...(zone === undefined ? {} : { status: { zone } }),
      ...(object.spec.class === "garden" ? { requeueAfter: keepRight } : {}),
    };
  };
  const remove: Actuator<DNSRecord, Cluster | undefined>["delete"] = async (object, _cluster, context) => {
    try {
      await write(object, [], context);
    } catch (error) {
      if (!(error instanceof ForeignZone) || object.status?.zone !== undefined) throw error;
      context.log.info({ err: error }, "there is nothing to delete: the server never took this record");
    }
  };
  return {
    reconcile,
    restore: reconcile,
    migrate: async () => undefined,
    delete: remove,
    forceDelete: async (object, cluster, context) => {
      try {
        await remove(object, cluster, context);
      } catch (error) {
        context.signal.throwIfAborted();
        context.check();
        context.log.warn({ err: error }, "a record is left behind: its server did not delete it");
      }
    },
  };
}

/** In ms: a record by which seeds find out whether they lead is put right again when something else has changed it. */
const keepRight = 60_000;

/** The record's own server if its Secret names one, else the process's. */
async function findServer(
  record: DNSRecord,
  { client }: ActuatorContext,
  fallback: DefaultNameServer | undefined,
): Promise<{ server: NameServer; zone: string | undefined }> {
  const { spec, metadata } = record;
  const { name = "", namespace = metadata.namespace } = spec.secretRef;
  const found = await client.read(Secret, { name, namespace });
  if (found && isLeadershipKey(found)) await requireOwnLeadershipRecord(client, record);
  const data = found ? await readSecret(client, { name, namespace }) : {};
  const server = readServer(data);
  const problem = server && problemOf(server);
  if (problem !== undefined)
    throw new ExtensionError(`cannot use the DNS server of Secret ${namespace}/${name} for ${spec.name}: ${problem}`, [
      "ERR_CONFIGURATION_PROBLEM",
    ]);
  if (server) return { server, zone: spec.zone ?? data["Zone"] };
  if (fallback) return { server: fallback.server, zone: spec.zone ?? fallback.zone };
  throw new ExtensionError(`cannot find the DNS server of ${spec.name}: Secret ${namespace}/${name} names none`, [
    "ERR_CONFIGURATION_PROBLEM",
  ]);
}

/** The keys of the Secret are those of Gardener's rfc2136 provider. */
function readServer(data: Readonly<Record<string, string>>): NameServer | undefined {
  const { Server, TSIGKeyName, TSIGSecret, TSIGSecretAlgorithm = "hmac-sha256" } = data;
  if (Server === undefined || TSIGKeyName === undefined || TSIGSecret === undefined) return undefined;
  const key = { name: TSIGKeyName.replace(/\.$/, ""), secret: TSIGSecret, algorithm: TSIGSecretAlgorithm };
  return { ...partsOf(Server), key };
}
