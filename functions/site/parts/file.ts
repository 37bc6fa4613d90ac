import * as z from "zod";
import { sendTo } from "../layout.tsx";
import { type View, type Visit, view } from "./view.ts";

/**
 * The way to a file that the interface gives to who is signed in. Its own address would tell a person whose session is over,
 * as that of a page left open is after minutes, a problem made for programs; this takes the session up again first.
 */
export function fileView(path: string, title: string, address: (visit: Visit) => string): View {
  return view({
    path,
    title,
    async show(visit) {
      await visit.api.read("/api/v1/auth/me", z.unknown());
      return sendTo(visit.c, address(visit));
    },
  });
}
