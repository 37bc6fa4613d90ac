/** `npm run bench -- forgery`: what each known forgery gains over an honest agent that is as good, on the whole stack. */
import { setTimeout as delay } from "node:timers/promises";
import { prepare } from "../agents/forgery/ground.ts";
import { carryOut, FORGERIES } from "../agents/forgery/table.ts";
import { deploy } from "../e2e/deployed.ts";

const POLL_MS = 50;

/** Carries all forgeries out, and prints a line for each; resolves to whether each gains nothing, or is told of. */
export async function forgeryTable(): Promise<boolean> {
  const { url, sql, stop } = await deploy();
  const settled = async () => {
    while ((await sql("select from runs where status in ('queued', 'running') or canary is null limit 1")).length > 0)
      await delay(POLL_MS);
  };
  try {
    const ground = await prepare({ url, sql, settled });
    const lines = [["an agent that", "honest", "forged", "gain", "95% interval", ""]];
    let held = true;
    for (const forgery of FORGERIES) {
      const { gain, said } = await carryOut(ground, forgery);
      const holds = said !== false && (!forgery.prevented || gain.low <= 0);
      held &&= holds;
      const points = [gain.honest, gain.forged, gain.value].map((score) => score.toFixed(2));
      const interval = `${gain.low.toFixed(1)} to ${gain.high.toFixed(1)}`;
      const verdict = [forgery.prevented && "prevented", said && "said on the board"].filter(Boolean).join(", ");
      lines.push([forgery.how, ...points, interval, holds ? verdict : "NOT HELD"]);
      console.error(`measured: ${forgery.name}`);
    }
    await ground.close();
    for (const [how = "", ...cells] of lines)
      console.log([how.padEnd(105), ...cells.map((cell) => cell.padStart(14))].join(" "));
    return held;
  } finally {
    await stop();
  }
}
