/** A moment to the minute, in UTC; where scripts run, the page's own tells it by the reader's clocks. */
export function Moment({ time }: { time: string }) {
  return (
    <time datetime={time} data-moment="">
      {time.slice(0, 16).replace("T", " ")} UTC
    </time>
  );
}
