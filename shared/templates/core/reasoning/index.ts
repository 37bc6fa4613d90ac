import type { CoreTemplate } from "../../types.ts";
import { bakeryTrays } from "./bakery-trays.ts";
import { lighthouseFive } from "./lighthouse-five.ts";
import { mapRoom } from "./map-room.ts";
import { paradeFloats } from "./parade-floats.ts";

/** The templates of the domain `reasoning`. */
export const reasoning: readonly CoreTemplate[] = [lighthouseFive, paradeFloats, mapRoom, bakeryTrays];
