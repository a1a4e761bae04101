import { join } from "node:path";
import { KUBELET_UNIT, NODE_AGENT_UNIT } from "../../api/names.ts";
import { ETCDS, etcdPorts, imagesFor, nodeUrl, type EtcdRole } from "../../components/index.ts";
import { DataInUseError, refuseRunning } from "../../etcd-data/in-use.ts";
import { judgeData } from "../../etcd-data/judge.ts";
import { holdToData } from "../../etcd-data/let-start.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";
import { createEtcd } from "../../etcd-data/serve.ts";
import { isSurvivalCutOff, restoreFromMember } from "../../etcd-data/survivor.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { createEtcdTool, type Run } from "../../node-agent/commands.ts";
import { readMade } from "../cluster/control-plane.ts";
import type { StartDeps } from "../init/actions.ts";
import { etcdAnswers } from "../machine/kubelet-answers.ts";
import { noteShoot, refuseOtherShoot } from "../cluster/own-shoot.ts";
import { isMemberThere, membersOf, ownFault } from "../cluster/members.ts";
import { doubtOtherNodes } from "../cluster/silent-nodes.ts";
import { until } from "../steps/until.ts";
import { mendedAside, putManifestsAside, putManifestsBack } from "../mending/manifests.ts";
import { endApiServer, endEtcd } from "../mending/end-programs.ts";
import { beginEmpty } from "../mending/mend.ts";
import { readOwnMember } from "../mending/own-member.ts";
import { noteBegun, readBegun, restoreFolder } from "../machine/begun-restore.ts";
import { ensureProgram } from "./programs.ts";
import { refuseQuorum, type View } from "./quorum.ts";
import { forgetRelearning } from "../mending/relearn.ts";
import type { MemberRestoreAction } from "./restore-from-member.ts";
import { removeLostNodes } from "./stale.ts";

/** What a restore from a survivor works with. */
export interface MemberRestoreDeps extends StartDeps {
  /** People have said that the members which do not answer will not come back. */
  readonly quorumIsLost: boolean;
  /** The API server, as its administrator. */
  server(): KubeClient;
}

const FROM = "member";

/** What each row does. Each may be done again after a kill. */
export function createMemberRestoreActions({
  machine,
  configuration,
  quorumIsLost,
  server,
}: MemberRestoreDeps): Readonly<Record<MemberRestoreAction, (scope: StepScope) => Promise<void>>> {
  const { root, hostName, addresses } = machine;
  const aside = join(restoreFolder(root), "manifests");
  const own = { name: hostName, addresses };
  return {
    async quorum(scope) {
      if ((await readBegun(root))?.from === FROM) return;
      const views = await Promise.all(ETCDS.map(async (role) => await viewsOf(role, scope)));
      for (const [at, role] of ETCDS.entries()) refuseQuorum(role, views[at] ?? [], quorumIsLost);
      await noteBegun(root, { from: FROM, restored: [] });
    },
    async stopped(scope) {
      if ((await restored(root)).length === ETCDS.length) return;
      for (const unit of [NODE_AGENT_UNIT, KUBELET_UNIT]) await machine.systemctl(["stop", unit], scope.signal);
      await putManifestsAside(root, aside);
      for (const role of ETCDS) await untilEnded(role, root, scope);
    },
    async etcdData({ signal, tell }) {
      const program = async (name: "etcd" | "etcdctl" | "etcdutl") =>
        await ensureProgram(machine, imagesFor(configuration.shoot.spec.kubernetes.version), name, signal);
      const programs = {
        etcd: createEtcd(await program("etcd")),
        etcdctl: createEtcdTool(await program("etcdctl")),
        etcdutl: createEtcdTool(await program("etcdutl")),
      };
      for (const role of ETCDS) {
        const done = await restored(root);
        if (done.includes(role)) continue;
        const place = dataPlaceOf(role, root);
        if (role !== "events" || !(await eventsBeginAnew(programs, { signal, tell })))
          await restoreFromMember(programs, { place, member: memberOf(role), signal });
        await noteBegun(root, { from: FROM, restored: [...done, role] });
      }
    },
    async etcd(scope) {
      // The agent, too, has put aside what it was about to mend, when it was stopped.
      for (const role of ETCDS) {
        await forgetRelearning(root, role);
        await putManifestsBack(root, mendedAside(root, role));
      }
      await putManifestsBack(root, aside);
      await machine.systemctl(["start", KUBELET_UNIT], scope.signal);
      for (const role of ETCDS) await etcdAnswers(role, scope);
      for (const role of ETCDS) await holdToData(dataPlaceOf(role, root));
      await endApiServer(root); // the one of before would look for its etcd seldom
    },
    async kubeApiServer(scope) {
      await until("the API server is not ready", scope, async () => (await server().get("/readyz")) === "ok");
      // Controllers end without it, and are begun again later each time, but at once by a kubelet that has just begun.
      await machine.systemctl(["restart", KUBELET_UNIT], scope.signal);
    },
    async adopted() {
      const { shoot } = await readMade(server());
      refuseOtherShoot(shoot, configuration.shoot);
      await noteShoot(root, shoot);
    },
    async staleObjects({ tell }) {
      const lost = await removeLostNodes(server(), hostName);
      await doubtOtherNodes(server(), hostName, new Date());
      if (lost.length > 0) tell(`took away what was of ${lost.join(", ")}`);
    },
    async nodeAgent({ signal }) {
      await machine.systemctl(["start", NODE_AGENT_UNIT], signal);
    },
  };

  function memberOf(role: EtcdRole) {
    const peerURL = nodeUrl(own, etcdPorts(role, { nodes: [own] }).peer);
    return { name: hostName, peerURL, token: `etcd-${role}` };
  }

  /** Whether events that are lost here, too, have been made to begin empty: without them, there is a cluster. */
  async function eventsBeginAnew(programs: { readonly etcdutl: Run }, { signal, tell }: StepScope) {
    const place = dataPlaceOf("events", root);
    if (await isSurvivalCutOff(place)) return false;
    const verdict = await judgeData(programs, place, signal);
    const member = await readOwnMember("events", root);
    if ((verdict.state !== "missing" && verdict.state !== "corrupt") || member === undefined) return false;
    await beginEmpty("events", member, root);
    tell(`${verdict.why}: etcd-events begins empty`);
    return true;
  }

  /** What this machine's member and each of the others says of all of them, where it answers: all are asked at once, since most may be dead. */
  async function viewsOf(role: EtcdRole, scope: StepScope): Promise<readonly View[]> {
    const nodes = [own, ...((await readOwnMember(role, root))?.others ?? [])];
    return await Promise.all(
      nodes.map(async (node) => {
        const ask = membersOf(role, [node], { ...scope, root }).readStatus();
        return await ask.catch(async (error: unknown) => {
          scope.signal.throwIfAborted();
          return {
            node: node.name,
            reason: (await ownFault(root, Date.now())) ?? (error as Error).message,
            isThere: await isMemberThere(nodeUrl(node, etcdPorts(role, { nodes }).client), root, scope.signal),
          };
        });
      }),
    );
  }
}

const restored = async (root: string): Promise<readonly string[]> => (await readBegun(root))?.restored ?? [];

async function untilEnded(role: EtcdRole, root: string, scope: StepScope): Promise<void> {
  await until(`etcd-${role} has not ended`, scope, async () => {
    await endEtcd(role, root);
    try {
      await refuseRunning(dataPlaceOf(role, root).dataDir);
      return true;
    } catch (error) {
      if (error instanceof DataInUseError) return error.message;
      throw error;
    }
  });
}
