import { rename } from "node:fs/promises";
import { ETCDS, etcdPorts, nodeUrl, type ControlPlaneNode, type EtcdRole } from "../../components/index.ts";
import type { Member } from "../../etcd/answers.ts";
import type { Membership } from "../../etcd/members.ts";
import { nameOf } from "../../etcd/status.ts";
import { hasLog, hasMember, letStart } from "../../etcd-data/let-start.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";
import type { StepScope } from "../../in-process/run.ts";
import { OperatorError } from "../steps/fault.ts";
import { abandonedOf, membersOf } from "../cluster/members.ts";

/** This node among those that carry the control plane, as far as they are members of its etcds. */
export interface OwnPlace {
  readonly root: string;
  readonly own: ControlPlaneNode;
  readonly others: readonly ControlPlaneNode[];
}

/** Makes this node's members what they are to be next, in both etcds, asked of the other nodes. Each may be called again. */
export function createOwnMembers({ root, own, others }: OwnPlace) {
  const inEach = async (scope: StepScope, act: (etcd: Etcd) => Promise<void>) => {
    for (const role of ETCDS) {
      const peerURL = nodeUrl(own, etcdPorts(role, { nodes: others }).peer);
      const tell = (message: string) => scope.tell(`etcd-${role}: ${message}`);
      const membership = membersOf(role, others, { ...scope, tell, root });
      await act({ role, membership, peerURL, ...dataPlaceOf(role, root) });
    }
  };
  const ownMember = async ({ membership, peerURL, role }: Etcd): Promise<Member> => {
    const found = (await membership.readMembers()).find(({ peerURLs }) => peerURLs.includes(peerURL));
    if (found === undefined)
      throw new OperatorError(`etcd-${role} has no member at ${peerURL}: run this command again`);
    return found;
  };
  return {
    /**
     * A member whose data or log is lost is dead for good, and data of a member that is out is of no use: it is kept aside. One that has
     * not told its name yet is left alone: its etcd may have begun a moment ago. Before, learners go that joins have left which came
     * to nothing: etcd takes one at a time, the caller has the turn, and a join that goes on adds its own again. `taken` are the
     * addresses of all other nodes.
     */
    removeStale: async (scope: StepScope, taken: readonly string[]) =>
      await inEach(scope, async (etcd) => {
        const { membership, dataDir, role, peerURL } = etcd;
        for (const { id } of abandonedOf(await membership.readMembers(), [...taken, ...own.addresses]))
          await membership.removeMember(id);
        const isOwn = ({ name, started, peerURLs }: Member) =>
          started ? name === own.name : peerURLs.includes(peerURL);
        const known = (await membership.readMembers()).find(isOwn);
        const putAside = async () => {
          if (await hasMember(dataDir)) await rename(dataDir, `${dataDir}.of-former-member-${Date.now()}`);
        };
        if (known === undefined) await putAside();
        if (known?.started !== true || (await hasLog(dataDir))) return;
        const stale = await membership.findStale(own);
        if (stale === undefined)
          throw new OperatorError(
            `etcd-${role} has ${nameOf(known)}, which answers: another machine has the host name ${own.name}; give this one another name`,
          );
        await membership.removeMember(stale.id);
        await putAside();
      }),
    /** A member that has started before does so again only with the data that it had. */
    addLearners: async (scope: StepScope) =>
      await inEach(scope, async ({ membership, peerURL, dataDir }) => {
        const { started } = await membership.addLearner({ name: own.name, peerURL });
        if (!started || (await hasLog(dataDir))) await letStart(dataDir);
      }),
    untilSynced: async (scope: StepScope) =>
      await inEach(scope, async (etcd) => await etcd.membership.untilSynced((await ownMember(etcd)).id)),
    promote: async (scope: StepScope) =>
      await inEach(scope, async (etcd) => await etcd.membership.promote((await ownMember(etcd)).id)),
  };
}

interface Etcd {
  readonly role: EtcdRole;
  readonly membership: Membership;
  readonly peerURL: string;
  readonly dataDir: string;
}
