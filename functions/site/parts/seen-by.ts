/** Who sees an agent while it is private, as who sees it then is told. */
export function seenBy({ team_id }: { team_id?: string | null | undefined }): string {
  return team_id == null ? "you" : "the members of its workspace";
}
