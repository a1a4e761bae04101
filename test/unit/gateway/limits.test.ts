import { once } from "node:events";
import { constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { gzipSync } from "node:zlib";
import { Metadata, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { defaultLimits } from "../../../src/gateway/limits.ts";
import { messages, workflowMethod } from "../../../src/gateway/messages.ts";
import { createRefusalLog } from "../../../src/gateway/refusal-log.ts";
import type { Upstream, UpstreamCall } from "../../../src/gateway/upstream.ts";
import { createLogger } from "../../../src/log.ts";
import { gardenQueue, seedQueue } from "../../../src/workflows/contract.ts";
import { eventually } from "../../support/eventually.ts";
import {
  bareCaller,
  beginCall,
  framed,
  rawCaller,
  startLoneGateway,
  type LoneGateway,
} from "../../support/lone-gateway.ts";

const POLL = workflowMethod("PollActivityTaskQueue");
const SYSTEM = workflowMethod("GetSystemInfo");
const MiB = 1024 * 1024;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A frontend whose polls wait until they are cancelled, and that answers all other calls at once with nothing. */
function waitingFrontend() {
  const received: UpstreamCall[] = [];
  const waiting = new Map<string, number>();
  const count = (queue: string, by: number) => waiting.set(queue, (waiting.get(queue) ?? 0) + by);
  const upstream: Upstream = {
    async call(call) {
      received.push(call);
      if (call.path !== POLL) return new Uint8Array();
      const queue = messages.PollActivityTaskQueueRequest.decode(call.request).taskQueue?.name ?? "";
      count(queue, 1);
      if (call.cancelled !== undefined && !call.cancelled.aborted) await once(call.cancelled, "abort");
      count(queue, -1);
      throw Object.assign(new Error("cancelled"), { code: status.CANCELLED });
    },
    close: () => undefined,
  };
  return { received, polls: (queue: string) => waiting.get(queue) ?? 0, upstream };
}

async function start(deps: Partial<Parameters<typeof startLoneGateway>[0]> = {}) {
  const frontend = waitingFrontend();
  const gateway: LoneGateway = await startLoneGateway({ upstream: frontend.upstream, pause: 100, ...deps });
  ends.push(() => gateway.stop());
  return { frontend, gateway };
}

function caller(address: Parameters<typeof rawCaller>[0]): Upstream {
  const upstream = rawCaller(address);
  ends.push(() => upstream.close());
  return upstream;
}

async function bare(address: Parameters<typeof rawCaller>[0]) {
  const session = await bareCaller(address);
  ends.push(() => session.destroy());
  return session;
}

const pollOf = (queue: string) =>
  messages.PollActivityTaskQueueRequest.encode({ namespace: "default", taskQueue: { name: queue } }).finish();

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    ({ code, details }: { code: number; details: string }) => ({ code, details }),
  );

/** Begins this many polls of a seed's own queue, on several connections. */
async function flood(gateway: LoneGateway, seed: string, count: number) {
  const address = await gateway.asSeed(seed);
  const callers = Array.from({ length: Math.ceil(count / 150) }, () => caller(address));
  const stop = new AbortController();
  ends.push(() => stop.abort());
  const request = pollOf(seedQueue(seed));
  const polls = Array.from({ length: count }, async (_, index) =>
    refusal(
      callers[index % callers.length]?.call({ path: POLL, request, cancelled: stop.signal }) ?? Promise.resolve(),
    ),
  );
  return { polls, stop: () => stop.abort() };
}

describe("the gateway", () => {
  it("passes on the headers of a caller's program, and no others", async () => {
    const { frontend, gateway } = await start();
    const metadata = new Metadata();
    const sent = {
      "client-name": "temporal-typescript",
      "client-version": "1.2.3",
      "supported-server-versions": "<2.0.0",
      "caller-type": "operator",
      "caller-name": "temporal-system",
      "call-origin": "x",
      "temporal-namespace": "default",
      authorization: "Bearer forged",
      "x-forwarded-for": "10.0.0.1",
      "client-name-bin": Buffer.from("x"),
    };
    for (const [name, value] of Object.entries(sent)) metadata.set(name, value);
    const program = {
      "client-name": "temporal-typescript",
      "client-version": "1.2.3",
      "supported-server-versions": "<2.0.0",
    };
    for (const [address, passed] of [
      [await gateway.asSeed("seed-1"), program],
      [await gateway.asGarden(), { ...program, "caller-type": "operator", "temporal-namespace": "default" }],
    ] as const) {
      await caller(address).call({ path: SYSTEM, request: new Uint8Array(), metadata });
      expect(frontend.received.at(-1)?.metadata?.getMap()).toEqual(passed);
    }
  });

  it("lets a seed hold so many polls, while those of another seed and of the garden get through", async () => {
    const { frontend, gateway } = await start();
    const { polls, stop } = await flood(gateway, "seed-1", 400);
    const { own } = defaultLimits.seed.polls;
    await eventually(() => expect(frontend.polls(seedQueue("seed-1"))).toBe(own));
    expect(await Promise.race(polls)).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(frontend.polls(seedQueue("seed-1"))).toBe(own);
    const other = await flood(gateway, "seed-2", 20);
    const gardens = new AbortController();
    const cancelled = gardens.signal;
    void refusal(caller(await gateway.asGarden()).call({ path: POLL, request: pollOf(gardenQueue), cancelled }));
    await eventually(() => expect(frontend.polls(seedQueue("seed-2"))).toBe(20));
    await eventually(() => expect(frontend.polls(gardenQueue)).toBe(1));
    gardens.abort();
    other.stop();
    stop();
    await eventually(() => expect(frontend.polls(seedQueue("seed-1"))).toBe(0));
    const again = await flood(gateway, "seed-1", own);
    await eventually(() => expect(frontend.polls(seedQueue("seed-1"))).toBe(own));
    again.stop();
  });

  it("names the caller, the limit and what helps", async () => {
    const { gateway } = await start({
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, polls: { own: 1, total: 400 } } },
    });
    const { polls } = await flood(gateway, "seed-1", 2);
    expect(await Promise.race(polls)).toEqual({
      code: status.RESOURCE_EXHAUSTED,
      details:
        "perennial:seed:seed-1 has too many waiting polls at this gateway: the limit is 1, or less while all seeds together " +
        "come near their limit of 400; run fewer replicas of the worker, or raise PERENNIAL_GATEWAY_SEED_POLLS or " +
        "PERENNIAL_GATEWAY_ALL_SEEDS_POLLS",
    });
  });

  it("keeps places free for a seed that has none, however many seeds take all they can", async () => {
    const { frontend, gateway } = await start({
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, polls: { own: 20, total: 40 } } },
    });
    for (const seed of ["seed-1", "seed-2", "seed-3"]) {
      const { polls } = await flood(gateway, seed, 21);
      await Promise.race(polls);
    }
    const held = () => ["seed-1", "seed-2", "seed-3"].map((seed) => frontend.polls(seedQueue(seed)));
    await eventually(() => expect(held()).toEqual([20, 10, 5]));
    const other = await flood(gateway, "seed-4", 1);
    await eventually(() => expect(frontend.polls(seedQueue("seed-4"))).toBe(1));
    other.stop();
  });

  it("bounds the calls that a seed has under way", async () => {
    const { gateway } = await start({
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, calls: { own: 2, total: 10 } } },
    });
    const session = await bare(await gateway.asSeed("seed-1"));
    for (let count = 0; count < 2; count += 1) beginCall(session, SYSTEM, [Buffer.from([0])]);
    expect(await beginCall(session, SYSTEM, [Buffer.from([0])]).ended).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining("perennial:seed:seed-1 has too many calls under way") as string,
    });
    expect(await caller(await gateway.asSeed("seed-2")).call({ path: SYSTEM, request: new Uint8Array() })).toEqual(
      Buffer.alloc(0),
    );
  });

  it("bounds the bytes that a seed's requests announce before any is kept, and leaves room for another seed's", async () => {
    const { gateway } = await start({ arrival: 2_000 });
    const session = await bare(await gateway.asSeed("seed-1"));
    const unfinished = Array.from({ length: 20 }, () =>
      beginCall(session, SYSTEM, [framed(Buffer.alloc(1000), { length: 4 * MiB })]),
    );
    const ended = await Promise.all(unfinished.map((call) => call.ended));
    const count = (code: number) => ended.filter((end) => end.status === code).length;
    expect(count(status.RESOURCE_EXHAUSTED)).toBe(18);
    expect(ended.find((end) => end.status === status.RESOURCE_EXHAUSTED)?.details).toContain(
      "too many bytes in flight",
    );
    expect(count(status.DEADLINE_EXCEEDED)).toBe(2);
    const whole = beginCall(session, SYSTEM, [framed(Buffer.alloc(4 * MiB))], true);
    expect(await whole.ended).toEqual({ status: status.OK, details: "" });
  });

  it("ends a request that does not arrive, and gives back what it held", async () => {
    const { gateway } = await start({
      arrival: 200,
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, calls: { own: 1, total: 10 } } },
    });
    const session = await bare(await gateway.asSeed("seed-1"));
    for (const body of [[], [framed(Buffer.alloc(10), { length: MiB })]])
      expect(await beginCall(session, SYSTEM, body).ended).toEqual({
        status: status.DEADLINE_EXCEEDED,
        details: "a request has to arrive within 0.2 seconds: send less at a time, or over a faster connection",
      });
    const whole = beginCall(session, SYSTEM, [framed(Buffer.alloc(0))], true);
    expect(await whole.ended).toMatchObject({ status: status.OK });
  });

  it("ends a call whose answer is not read, and counts its bytes until then", async () => {
    const answer = Buffer.alloc(MiB);
    const { gateway } = await start({
      reading: 500,
      upstream: { call: async () => await Promise.resolve(answer), close: () => undefined },
    });
    const address = await gateway.asSeed("seed-1");
    const session = await bare(address);
    for (let count = 0; count < 9; count += 1)
      beginCall(session, SYSTEM, [framed(Buffer.alloc(0))], true).stream.pause();
    const other = caller(address);
    const ask = () => refusal(other.call({ path: SYSTEM, request: new Uint8Array(1) }));
    await eventually(async () => expect((await ask())?.details).toContain("too many bytes in flight"));
    await eventually(async () => expect(await ask()).toBeUndefined());
  });

  it("ends a seed's oldest answers that are not read, and leaves its room to another seed's", async () => {
    const release = Promise.withResolvers<Uint8Array>();
    let waiting = 0;
    const call = async () => await ((waiting += 1), release.promise);
    const { gateway } = await start({ upstream: { call, close: () => undefined } });
    const session = await bare(await gateway.asSeed("seed-1"));
    const polled = [framed(pollOf(seedQueue("seed-1")))];
    const unread = Array.from({ length: 40 }, () => beginCall(session, POLL, polled, true));
    for (const { stream } of unread) stream.pause();
    await eventually(() => expect(waiting).toBe(40));
    const task = { taskToken: Buffer.from("x"), heartbeatDetails: { payloads: [{ data: Buffer.alloc(1.9 * MiB) }] } };
    release.resolve(messages.PollActivityTaskQueueResponse.encode(task).finish());
    const { NGHTTP2_ENHANCE_YOUR_CALM: ended, NGHTTP2_NO_ERROR: open } = constants;
    await eventually(() =>
      expect(unread.map(({ stream }) => stream.rstCode)).toEqual([
        ...Array<number>(36).fill(ended),
        ...Array<number>(4).fill(open),
      ]),
    );
    const other = caller(await gateway.asSeed("seed-2"));
    expect((await other.call({ path: POLL, request: pollOf(seedQueue("seed-2")) })).length).toBeGreaterThan(MiB);
  });

  it("decompresses no more than a message says that it has, and counts that first", async () => {
    const { frontend, gateway } = await start({
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, bytes: { own: 3 * MiB, total: 32 * MiB } } },
    });
    const session = await bare(await gateway.asSeed("seed-1"));
    const ask = async (packed: Buffer) =>
      await beginCall(session, SYSTEM, [framed(packed, { compressed: true })], true).ended;
    const saying = (packed: Buffer, length: number) => {
      const copy = Buffer.from(packed);
      copy.writeUInt32LE(length, copy.length - 4);
      return copy;
    };
    const bomb = gzipSync(Buffer.alloc(100 * MiB));
    expect(await ask(bomb)).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining("104857600 bytes") as string,
    });
    const within = gzipSync(Buffer.alloc(4 * MiB));
    expect(await ask(within)).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining("too many bytes in flight") as string,
    });
    const said = gzipSync(Buffer.from("said"));
    const lies = [saying(bomb, 10), saying(said, 3), saying(said, 5), Buffer.concat([said, bomb, said])];
    for (const lie of [...lies, Buffer.alloc(2), Buffer.alloc(40)])
      expect(await ask(lie)).toMatchObject({ status: status.INVALID_ARGUMENT });
    expect(frontend.received).toEqual([]);
    expect(await ask(said)).toMatchObject({ status: status.OK });
  });

  it("refuses giant, cut off and doubled messages", async () => {
    const { frontend, gateway } = await start();
    const session = await bare(await gateway.asSeed("seed-1"));
    const refusals = [
      [[framed(Buffer.alloc(10), { length: 2 ** 32 - 1 })], status.RESOURCE_EXHAUSTED, /4294967295 bytes/],
      [[framed(Buffer.alloc(10), { length: 11 })], status.INVALID_ARGUMENT, /ends within its message/],
      [[], status.INVALID_ARGUMENT, /ends within its message/],
      [[framed(Buffer.alloc(3)), framed(Buffer.alloc(3))], status.INVALID_ARGUMENT, /more than one message/],
    ] as const;
    for (const [body, code, sentence] of refusals)
      expect(await beginCall(session, SYSTEM, body, true).ended).toEqual({
        status: code,
        details: expect.stringMatching(sentence) as string,
      });
    expect(frontend.received).toEqual([]);
    const pieces = [...framed(Buffer.alloc(30))].map((byte) => Buffer.from([byte]));
    expect(await beginCall(session, SYSTEM, pieces, true).ended).toMatchObject({ status: status.OK });
  });

  it("refuses what is no message of the method, and passes on no more of a message than it has judged", async () => {
    const { frontend, gateway } = await start();
    const seed = caller(await gateway.asSeed("seed-1"));
    const stop = new AbortController();
    ends.push(() => stop.abort());
    const ask = (request: Uint8Array) => refusal(seed.call({ path: POLL, request, cancelled: stop.signal }));
    for (const bytes of [Buffer.alloc(5, 0xff), Buffer.alloc(200_000, 0x0b), Buffer.alloc(100, 0x80)])
      expect(await ask(bytes)).toEqual({
        code: status.INVALID_ARGUMENT,
        details: "the request is not a message of this method",
      });
    const [own, other] = [pollOf(seedQueue("seed-1")), pollOf(seedQueue("seed-2"))];
    expect(await ask(Buffer.concat([own, other]))).toMatchObject({ code: status.PERMISSION_DENIED });
    expect(frontend.received).toEqual([]);
    const unknown = Buffer.from([0xfa, 0x3f, 0x01, 0x78]); // field 1023
    void ask(Buffer.concat([other, unknown, own]));
    const passed = await eventually(() => frontend.received[0] ?? false);
    const expected = { namespace: "default", taskQueue: { name: seedQueue("seed-1"), kind: 1 } };
    expect(passed.request).toEqual(messages.PollActivityTaskQueueRequest.encode(expected).finish());
  });

  it("keeps what it says of a name short", async () => {
    const { gateway } = await start();
    const seed = caller(await gateway.asSeed("seed-1"));
    const said = await refusal(seed.call({ path: POLL, request: pollOf("é\ud800".repeat(40_000)) }));
    expect(said?.code).toBe(status.PERMISSION_DENIED);
    expect(said?.details.length).toBeLessThan(700);
  });

  it("counts a seed's calls per second, and those of another seed by themselves", async () => {
    const { frontend, gateway } = await start({
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, rate: { own: 5, total: 10 } } },
    });
    const [one, two] = [caller(await gateway.asSeed("seed-1")), caller(await gateway.asSeed("seed-2"))];
    const calls = Array.from({ length: 100 }, () => refusal(one.call({ path: SYSTEM, request: new Uint8Array() })));
    await calls[0];
    await two.call({ path: SYSTEM, request: new Uint8Array() });
    const refused = (await Promise.all(calls)).filter((said) => said !== undefined);
    expect(refused.length).toBeGreaterThan(80);
    expect(frontend.received.length).toBe(101 - refused.length);
    expect(refused[0]).toEqual({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining("perennial:seed:seed-1 has too many calls per second") as string,
    });
  });

  it("counts an answer by an activity's id twice, since the gateway asks whose it is", async () => {
    const { gateway } = await start({
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, rate: { own: 2, total: 10 } } },
    });
    const named = { namespace: "default", workflowId: "w", runId: "r", activityId: "1" };
    const byId = messages.RespondActivityTaskCompletedByIdRequest.encode(named).finish();
    const codes = async (seed: string, path: string, request: Uint8Array) => {
      const session = await bare(await gateway.asSeed(seed));
      const both = [1, 2].map(() => beginCall(session, path, [framed(request)], true).ended);
      return (await Promise.all(both)).map((end) => end.status);
    };
    expect(await codes("seed-1", SYSTEM, new Uint8Array())).toEqual([status.OK, status.OK]);
    const path = workflowMethod("RespondActivityTaskCompletedById");
    expect(await codes("seed-2", path, byId)).toEqual([status.NOT_FOUND, status.RESOURCE_EXHAUSTED]);
  });

  it("ends a seed's call after 30 seconds, and a poll or a call of the garden after 70", async () => {
    const { frontend, gateway } = await start();
    const seed = await gateway.asSeed("seed-1");
    for (const [seconds, address, path, request] of [
      [30, seed, SYSTEM, new Uint8Array()],
      [70, seed, POLL, pollOf(seedQueue("seed-1"))],
      [70, await gateway.asGarden(), SYSTEM, new Uint8Array()],
    ] as const) {
      const count = frontend.received.length;
      const before = Date.now();
      void refusal(caller(address).call({ path, request }));
      const { deadline } = await eventually(() => frontend.received[count] ?? false);
      expect(Number(deadline)).toBeGreaterThanOrEqual(before + seconds * 1000);
      expect(Number(deadline)).toBeLessThanOrEqual(Date.now() + seconds * 1000);
    }
  });

  it("lets a caller wait for a refusal of what it may not repeat, and for no other answer", async () => {
    const { gateway } = await start({
      pause: 2 ** 31 - 1,
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, calls: { own: 5, total: 10 } } },
    });
    const session = await bare(await gateway.asSeed("seed-1"));
    const ask = (path: string, message: Uint8Array) => beginCall(session, path, [framed(message)], true).ended;
    const refused = [
      ask(POLL, pollOf(seedQueue("seed-2"))),
      ask(POLL, Buffer.alloc(5, 0xff)),
      ...Array.from({ length: 7 }, () => ask(workflowMethod("SignalWorkflowExecution"), new Uint8Array())),
    ];
    const other = await bare(await gateway.asSeed("seed-2"));
    const answered = async () =>
      await beginCall(other, SYSTEM, [framed(Buffer.alloc(0))], true).ended.then(({ status: code }) => code);
    for (let count = 0; count < 3; count += 1)
      expect(await Promise.race([...refused.map((end) => end.then(() => "refused")), answered()])).toBe(status.OK);
  });

  it("ends a seed's connections beyond its limit, and no other's", async () => {
    const { gateway } = await start();
    const address = await gateway.asSeed("seed-1");
    const { own } = defaultLimits.seed.connections;
    const ask = async (session: Awaited<ReturnType<typeof bare>>) =>
      (await beginCall(session, SYSTEM, [framed(Buffer.alloc(0))], true).ended).status;
    const sessions: Awaited<ReturnType<typeof bare>>[] = [];
    for (let count = 0; count < own; count += 1) {
      const session = await bare(address);
      expect(await ask(session)).toBe(status.OK);
      sessions.push(session);
    }
    expect(await ask(await bare(address))).toBeUndefined();
    expect(await ask(await bare(await gateway.asSeed("seed-2")))).toBe(status.OK);
    sessions[0]?.close();
    await eventually(async () => expect(await ask(await bare(address))).toBe(status.OK));
  });

  it("serves callers while strangers leave more handshakes unfinished than it keeps", async () => {
    const { gateway } = await start();
    const strangers = Array.from({ length: 400 }, () => connectTcp({ host: "127.0.0.1", port: gateway.port }));
    for (const socket of strangers) ends.push(() => socket.on("error", () => undefined).destroy());
    await Promise.all(strangers.map((socket) => once(socket, "connect")));
    const ended = () => expect(strangers.filter((socket) => socket.readableEnded || socket.destroyed)).not.toEqual([]);
    await eventually(ended, 5_000); // sooner than an unfinished handshake ends by itself
    const session = await bare(await gateway.asSeed("seed-1"));
    expect(await beginCall(session, SYSTEM, [framed(Buffer.alloc(0))], true).ended).toMatchObject({
      status: status.OK,
    });
  });

  it("logs one line for a caller's refusals of one kind, and later how many more there were", async () => {
    const lines: string[] = [];
    const log = createLogger({ name: "test", level: "warn", destination: { write: (line) => void lines.push(line) } });
    const { gateway } = await start({
      log,
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, polls: { own: 1, total: 400 } } },
    });
    const { polls, stop } = await flood(gateway, "seed-1", 50);
    await Promise.race(polls);
    stop();
    await Promise.all(polls);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        caller: "perennial:seed:seed-1",
        path: POLL,
        reason: expect.stringContaining("too many waiting polls") as string,
        msg: "call refused",
      }),
    ]);

    lines.length = 0;
    const refusals = createRefusalLog(log, 20);
    for (let count = 0; count < 50; count += 1) refusals.warn("one", { caller: "seed-1" });
    await eventually(() => expect(lines).toHaveLength(2));
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ caller: "seed-1", count: 49, msg: "more calls refused" });
    refusals.warn("one", { caller: "seed-1" });
    refusals.stop();
    expect(lines).toHaveLength(3);
  });
});
