/** Load on a server: as many questions as it answers, or a fixed number a second. What breaks is an error, not a figure. */
import { stormByAutocannon, tailByAutocannon } from "./autocannon.ts";
import { outputOf } from "./driver.ts";
import { tailByH2load } from "./h2load.ts";
import { find } from "./machine.ts";
import { childFile } from "./nodes.ts";
import { soundTail, soundWeather, type Pace, type Storm, type Tail, type Weather } from "./weather.ts";
import { stormByWrk } from "./wrk.ts";

/** The program that makes storms here. */
export function stormMaker(): "wrk" | "autocannon" {
  return find("wrk") === undefined ? "autocannon" : "wrk";
}

/** Asks as fast as answers come: wrk where it is installed, else autocannon. @throws Error when too many questions fail */
export async function storm(asked: Storm): Promise<Weather> {
  return soundWeather(await (stormMaker() === "wrk" ? stormByWrk(asked) : stormByAutocannon(asked)), asked);
}

/**
 * The same by a program of the bench, which knows that the answer to a HEAD has no body: wrk, autocannon and h2load wait for it for ever.
 * Kept connections only. @throws Error when too many questions fail
 */
export async function stormByOurselves(asked: Storm): Promise<Weather> {
  const { url, seconds, connections } = asked;
  const targets = asked.targets ?? [{ method: "GET", path: new URL(url).pathname }];
  const command = [
    process.execPath,
    childFile("mixed-load"),
    url,
    `${seconds}`,
    `${connections}`,
    JSON.stringify(targets),
  ];
  return soundWeather(JSON.parse(await outputOf(command, seconds)) as Weather, asked);
}

/**
 * Asks at a fixed rate: by h2load where it is installed, else by autocannon, whose own pauses are in its tail.
 * @throws Error when too many questions fail, or the rate is not reached
 */
export async function tail(url: string, pace: Pace): Promise<Tail> {
  return soundTail(
    await (find("h2load") === undefined ? tailByAutocannon(url, pace) : tailByH2load(url, pace)),
    url,
    pace,
  );
}
