import type { Job } from "../job.ts";
import { a2a1 } from "./a2a-1.ts";
import { a2a } from "./a2a.ts";
import { native } from "./native.ts";
import { openaiChat } from "./openai-chat.ts";
import type { Protocol } from "./protocol.ts";

const PROTOCOLS: Record<Job["agent"]["agent_protocol"], Protocol> = {
  native,
  openai_chat: openaiChat,
  a2a,
  a2a_1: a2a1,
};

/** The protocol with this name. */
export function protocolOf(name: Job["agent"]["agent_protocol"]): Protocol {
  return PROTOCOLS[name];
}
