import type { CoreTemplate } from "../../types.ts";
import { barnSchedule } from "./barn-schedule.ts";
import { breadTour } from "./bread-tour.ts";
import { sledgeLoad } from "./sledge-load.ts";
import { videoCall } from "./video-call.ts";

/** The templates of the domain `planning`. */
export const planning: readonly CoreTemplate[] = [barnSchedule, sledgeLoad, breadTour, videoCall];
