import { Agent, request } from "undici";
import type { Machines } from "../machine/machines.ts";
import type { Call } from "./calls.ts";

type Answer<C extends Call> = Awaited<ReturnType<Machines[C]>>;

/** The machines of the host that answers at this socket. Throws with what the host says, or that it does not answer. */
export function connectMachines(socket: string): Machines {
  // The first machine on a host waits until all images are unpacked: there is no time after which an answer is late.
  const dispatcher = new Agent({ connect: { socketPath: socket }, headersTimeout: 0, bodyTimeout: 0 });

  const ask = async <C extends Call>(call: C, ...args: Parameters<Machines[C]>): Promise<Answer<C>> => {
    const body = JSON.stringify(args);
    const answer = await request(`http://machines/${call}`, { method: "POST", body, dispatcher }).catch(
      (cause: unknown) => {
        throw new Error(`cannot ask the host for its machines: nothing answers at ${socket}`, { cause });
      },
    );
    if (answer.statusCode === 200) return (await answer.body.json()) as Answer<C>;
    throw new Error(((await answer.body.json()) as { readonly message: string }).message);
  };

  return {
    ensure: (spec) => ask("ensure", spec),
    revive: async (name) => void (await ask("revive", name)),
    kubeletLog: (name) => ask("kubeletLog", name),
    list: (labels = {}) => ask("list", labels),
    remove: async (name) => void (await ask("remove", name)),
    configureNetwork: async (name, network) => void (await ask("configureNetwork", name, network)),
    addAddress: async (name, address) => void (await ask("addAddress", name, address)),
    removeAddress: async (name, address) => void (await ask("removeAddress", name, address)),
  };
}
