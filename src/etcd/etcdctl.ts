import { CommandError, createRun } from "../node-agent/commands.ts";
import { parseJsonExactly } from "../parsing.ts";

/** etcd's own client. */
export interface Etcdctl {
  /** What it answers to these arguments, with numbers as their text. Throws an EtcdError when it fails. */
  ask(args: readonly string[], how?: Asking): Promise<unknown>;
}

/** Where etcdctl asks: its usual endpoints, unless others are named; and for how long, in s, which are five. */
export interface Asking {
  readonly endpoints?: readonly string[];
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** How etcd is reached. Endpoints are client URLs of members; one that answers is enough, as long as it is no learner. */
export interface EtcdctlOptions {
  /** A path, or a name that is in one of the usual folders for programs. */
  readonly program?: string;
  readonly endpoints: readonly string[];
  /** Files: the authority that etcd's servers are known by, and what they know the caller by. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** That etcdctl has failed. The message is what etcd, or etcdctl, gives as the reason. */
export class EtcdError extends Error {
  override readonly name = "EtcdError";
  /** Whether the reason may pass by itself: soon after a change of its members, etcd takes no other. */
  readonly passing: boolean;

  constructor(reason: string, cause: unknown) {
    super(reason, { cause });
    this.passing = !distrusts.test(reason) && passes.test(reason);
  }
}

/** Runs `etcdctl` with its answers in JSON. Where no member answers, each call takes all of its time. */
export function createEtcdctl({ program = "etcdctl", endpoints, ca, cert, key }: EtcdctlOptions): Etcdctl {
  const files = Object.entries({ cacert: ca, cert, key }).flatMap(([flag, file]) => file && [`--${flag}=${file}`]);
  const always = ["--write-out=json", ...files.filter((flag) => flag !== undefined)];
  const run = createRun(program, always, { milliseconds: LONGEST_RUN, env });
  return {
    async ask(args, how = {}) {
      const flags = [`--endpoints=${(how.endpoints ?? endpoints).join(",")}`, `--command-timeout=${how.timeout ?? 5}s`];
      try {
        return parseJsonExactly(await run([...flags, ...args], how.signal), `what etcdctl ${args.join(" ")} answers`);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        throw new EtcdError(reasonOf(error.message), error);
      }
    },
  };
}

/** In ms, for an etcdctl that does not end by itself. */
const LONGEST_RUN = 30_000;

/** etcdctl ends at once where a variable of its own says what a flag says, too. */
const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

/** What a connection fails of where a certificate is not trusted, has expired or names others: no wait makes it another one. */
const distrusts =
  /x509: |tls: (?:failed to verify|unknown certificate|bad certificate|expired certificate|certificate required)/i;

/** What etcd 3.6 says while members begin, end, or choose a leader, and when another call was first. */
const passes = new RegExp(
  [
    "unhealthy cluster|not enough started members|too many learner members|already exist|in sync with leader",
    "no leader|not leader|leader changed|leader transfer took too long|bad leader transferee|request timed out|too many requests",
    "not supported for learner|deadline exceeded|connection|unavailable|did not end within|stopped",
  ].join("|"),
  "i",
);

/** Its last words, without the log line in front of them; what a connection failed of is in that line only. */
function reasonOf(said: string): string {
  const [, words] = /(?:^|\s)Error: (?:etcdserver: )?(.*)$/s.exec(said) ?? [];
  const [, status] = /Failed to get the status of endpoint \S+ \((?:etcdserver: )?(.*)\)$/s.exec(said) ?? [];
  const [, connection] =
    /connection error: desc = \\*"(?:transport: )?(?:Error while dialing: )?(.*?)\\*"/.exec(said) ?? [];
  const reason = words ?? status ?? said;
  return connection === undefined ? reason : `${reason}: ${connection}`;
}
