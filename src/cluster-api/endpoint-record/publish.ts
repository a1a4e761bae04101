import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import type { DNSRecord } from "../../api/index.ts";
import { inWords, isNotFound, refOf, refTo, Secret, type KubeClient } from "../../kube/index.ts";
import type { Said } from "../objects/conditions.ts";
import { ensureDnsRecord, isForEndpoint, readDnsRecord, valuesIn } from "./dns-record.ts";
import { chooseMembers, type Member } from "./members.ts";
import { notePublished } from "./note-published.ts";
import { againOnceServed, describeNoExtension, judgeDnsRecord, publishedSaid } from "./published.ts";
import { valuesFor, type Values } from "./values.ts";

/**
 * What came of publishing: condition Published, undefined where it is as it was; what the name says, by its extension; and when to
 * look again, in ms.
 */
export interface Publication {
  readonly said?: Said;
  readonly published?: Values;
  readonly requeueAfter?: number;
}

/** The members of a record, and whether each serves: undefined for one that was not heard yet. */
export interface Heard {
  readonly members: readonly Member[];
  serves(member: Member): boolean | undefined;
  /** Whether the Secret is there with which the provider can be asked. */
  readonly hasCredentials: boolean;
  /** Whether the cluster has the definition of DNSRecords. */
  readonly hasDnsRecords: boolean;
}

/**
 * Has the name of a record lead to those of its members that serve. A member that was not heard yet is taken to be as it was, also
 * before a `clusterctl move`; and the name is first given once all were heard. Without members it stays as it is: a DNSRecord has
 * to have a value.
 */
export async function publish(client: KubeClient, record: EndpointRecord, heard: Heard): Promise<Publication> {
  const existing = await readDnsRecord(client, record.metadata);
  if (existing !== undefined && !isForEndpoint(existing)) {
    const message = `${inWords(refOf(existing))} exists, and is for something else`;
    return { said: publishedSaid("False", "NameTaken", message) };
  }
  const present = existing ? valuesIn(existing) : record.spec.published;
  const aim = aimAt(heard, present);
  if (aim === undefined) return {};
  const { wanted = present, mixed } = aim;
  if (wanted === undefined) return { said: mixed ?? waiting };
  if (!heard.hasCredentials) return { said: withoutCredentials(record) };
  const publication = await carryOut(client, record, { existing, wanted, ...heard });
  return mixed && publication.said?.status !== "False" ? { ...publication, said: mixed } : publication;
}

/** What the name is to say, undefined where it stays as it is, and what hinders it; undefined altogether while not enough is known. */
function aimAt({ members, serves }: Heard, present: Values | undefined) {
  if (present === undefined && members.some((member) => serves(member) === undefined)) return undefined;
  const isPresent = (member: Member) => member.addresses.some((address) => present?.values.includes(address));
  const chosen = chooseMembers(members, (member) => serves(member) ?? isPresent(member));
  const { record: wanted, leftOut } = valuesFor(chosen, present);
  return { wanted, mixed: leftOut.length > 0 ? mixedSaid(chosen) : undefined };
}

interface Change {
  readonly existing: DNSRecord | undefined;
  readonly wanted: Values;
}

/** Writes the DNSRecord, if it says something else, and says how far its extension is. */
async function carryOut(
  client: KubeClient,
  record: EndpointRecord,
  { existing, wanted, hasDnsRecords }: Pick<Heard, "hasDnsRecords"> & Change,
): Promise<Publication> {
  // Before the DNS has it: a record that clusterctl took away in between would come without it, and leave the name for ever.
  const isFirst = existing === undefined && record.spec.published === undefined;
  if (isFirst && !(await notePublished(client, record, wanted))) return {}; // the watch brings it
  try {
    const written = await ensureDnsRecord(client, record, { existing, wanted });
    if (written === undefined) return {}; // the watch brings what comes of it
    const verdict = judgeDnsRecord(written, Date.now());
    if ("pendingFor" in verdict) return { requeueAfter: verdict.pendingFor + 1 };
    return { said: verdict, ...(verdict.status === "True" && { published: wanted }) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return {
      said: publishedSaid("False", "NoExtension", describeNoExtension(record)),
      ...againOnceServed(hasDnsRecords),
    };
  }
}

const waiting = publishedSaid("False", "WaitingForMachines", "no Machine of the control plane has an address yet");

function mixedSaid(members: readonly Member[]): Said {
  const each = members.map(({ name, addresses }) => `Machine ${name} has ${addresses.join(" and ")}`).join(", ");
  return publishedSaid("False", "MixedAddresses", `${each}: a name leads to IPv4, to IPv6 or to one other name`);
}

function withoutCredentials({ metadata: { namespace }, spec }: EndpointRecord): Said {
  const secret = inWords(refTo(Secret, { namespace, name: spec.provider.secretRef.name }));
  return publishedSaid("False", "NoCredentials", `${secret} with credentials of ${spec.provider.type} does not exist`);
}
