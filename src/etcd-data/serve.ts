import { spawn } from "node:child_process";

/** An etcd that runs for a while. */
export interface Served {
  /** Rejects with what it said last when it ends by itself. */
  readonly ended: Promise<never>;
  /** Ends it, and returns when it is gone. */
  stop(): Promise<void>;
}

/** Starts an etcd with these arguments in this folder, to which its sockets are relative. */
export type Serve = (args: readonly string[], folder: string) => Served;

/** etcd, from PATH unless told otherwise. A kill of this process leaves it with a copy that the next attempt makes anew. */
export function createEtcd(program = "etcd"): Serve {
  return (args, folder) => {
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-4_000)));
    const gone = new Promise<string>((resolve) => {
      child.once("error", ({ message }) => resolve(message));
      child.once("close", () => resolve(said.trim().split("\n").at(-1) ?? "nothing"));
    });
    const ended = gone.then((words): never => {
      throw new Error(`etcd ended: ${words}`);
    });
    ended.catch(() => {}); // it is for who waits; the end after `stop` is no error
    return {
      ended,
      async stop() {
        child.kill("SIGKILL"); // what it works with is a copy
        await gone;
      },
    };
  };
}
