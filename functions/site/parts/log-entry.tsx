import * as z from "zod";

/** An entry as the log has it; a kind that is not known here is shown as it stands. */
export const Entry = z.looseObject({ kind: z.string() });
type Entry = z.output<typeof Entry>;

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** An entry in words, with a way to what it is about where that is public. */
export function LogEntry({ entry }: { entry: Entry }) {
  switch (entry.kind) {
    case "run":
      return (
        <>
          A run's statement was signed: <code>{text(entry["sha256"])}</code>
        </>
      );
    case "credential":
      return (
        <>
          A credential was signed: <code>{text(entry["sha256"])}</code>
        </>
      );
    case "revoked":
      return (
        <>
          The credential <code>{text(entry["credential"])}</code> was revoked
        </>
      );
    case "key":
      return (
        <>
          The key <code>{text(entry["kid"])}</code> came into use: <a href="/.well-known/jwks.json">all keys</a>
        </>
      );
    case "epoch":
      return entry["sealed"] === true ? (
        <>
          The service committed to the secret of epoch {text(entry["epoch"])} that secret suites are drawn from; it is
          never revealed
        </>
      ) : (
        <>
          The service committed to the secret of <a href="#epochs">epoch {text(entry["epoch"])}</a>
        </>
      );
    case "reveal":
      return (
        <>
          The secret of <a href="#epochs">epoch {text(entry["epoch"])}</a> was revealed
        </>
      );
    case "suite":
      return (
        <>
          A suite was changed to version {text(entry["suite_version"])}:{" "}
          <a href={`/api/v1/suites/${text(entry["suite_id"])}`}>the suite</a>
        </>
      );
    case "board":
      return (
        <>
          The board of the night of {text(entry["day"])}:{" "}
          <a href={`/api/v1/leaderboard/history/${text(entry["day"])}`}>the board</a>
        </>
      );
    default:
      return <code>{JSON.stringify(entry)}</code>;
  }
}
