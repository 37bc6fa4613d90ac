import * as z from "zod";

/**
 * One line with something in it that can be seen, and nothing that is there without being seen. Among letters are fillers,
 * and among symbols a Braille cell without dots, that show nothing.
 */
const SEEN =
  /^(?=.*(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}])[^\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]+$/u;

/**
 * A name of 1 to `most` characters, trimmed: one line of something that can be seen, without what makes two names look
 * alike or turns the text around it over. Those are control characters, line and paragraph separators, characters without
 * width, and marks of direction (Unicode TR36, 2.5). The joiners of emoji and of scripts that need them are taken.
 * The document of the interface has no pattern of it, so that a client made from it before takes what it took.
 * @example
 * line(120).parse(" Ada ") // "Ada"
 */
export function line(most: number): z.ZodString {
  return (
    z
      .string()
      .trim()
      .min(1)
      .max(most)
      // That there is nothing is said by the length.
      .refine((text) => text === "" || SEEN.test(text), {
        params: { code: "invalid_format" },
        error:
          "Send one line that can be seen, without control characters, characters of no width, and marks of direction.",
      })
  );
}
