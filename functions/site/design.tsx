import { notFound } from "../../shared/platform/problem.ts";
import { Bar, Day, Layout, personal } from "./layout.tsx";
import { Differences } from "./parts/charts/differences.tsx";
import { LineChart } from "./parts/charts/line.tsx";
import { Matrix } from "./parts/charts/matrix.tsx";
import { RadarChart } from "./parts/charts/radar.tsx";
import { ScatterChart } from "./parts/charts/scatter.tsx";
import { Choose, Field, Form, Refused, Tick, Wrong } from "./parts/form.tsx";
import { Empty, Notice, Scroll } from "./parts/notice.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { TextArea } from "./parts/text-area.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

/** A name without a place to break a line, and one from right to left. */
const NAMES = ["W".repeat(60), "وكيل يجيب عن كل سؤال"] as const;
const WRONG = new Wrong(422, null, new Map([["wrong", "Write at least 3 characters."]]));
const POINTS = [41, 44.5, 43, 52.25, 61].map((value, index) => ({
  day: `2026-11-${10 + index}`,
  value,
  low: value - 6,
  high: value + 5,
}));

function Words() {
  return (
    <>
      <h2>Words</h2>
      <p>
        Text is 16 pixels of the reader's own system font, at most 44 rem wide. <a href="/design">A link</a>,{" "}
        <code>code</code>, <span class="mute">what matters less</span>, a day <Day time="2026-11-22T00:00:00Z" />, and a
        tag<span class="tag">verified</span>
      </p>
      <pre>{`{ "output": "42" }`}</pre>
      <dl>
        <dt>Term</dt>
        <dd>What is said of it</dd>
      </dl>
      <p>
        <button type="button">Button</button>{" "}
        <button type="button" class="quiet">
          Quiet
        </button>{" "}
        <button type="button" class="danger">
          Danger
        </button>{" "}
        <button type="button" disabled>
          Disabled
        </button>
      </p>
    </>
  );
}

function States() {
  return (
    <>
      <h2>States</h2>
      <Notice>
        <p>Something to know.</p>
      </Notice>
      <Notice kind="good">
        <p>It worked.</p>
      </Notice>
      <Notice kind="bad">
        <p>It did not work, and this is what to do next.</p>
      </Notice>
      <Empty>
        <p>There is nothing here yet. Say why, and what to do.</p>
      </Empty>
      <ul class="checks">
        <li class="met">Something that is done.</li>
        <li>Something that is still open.</li>
      </ul>
      <progress value={3} max={5} aria-label="Three of five" />
    </>
  );
}

function Fields() {
  return (
    <>
      <h2>Forms</h2>
      <Refused wrong={WRONG} labels={{ wrong: "Refused" }} />
      <Form action="/design" button="Send" others={[["other", "Do something else"]]}>
        <Field label="Right" name="right" value={NAMES[1]} hint="A hint stands under its field" optional />
        <Field label="Refused" name="wrong" value="ab" wrong={WRONG} />
        <Choose
          label="One of several"
          name="one"
          value="b"
          options={[
            ["a", "The first"],
            ["b", "The second"],
          ]}
        />
        <TextArea label="Several lines" name="lines" value={"{\n}"} code rows={3} />
        <Tick label="A box to tick" name="tick" checked hint="It sends true, or nothing" />
      </Form>
    </>
  );
}

function Table() {
  return (
    <>
      <h2>Tables</h2>
      <Scroll label="A table">
        <table>
          <caption>A table that is wider than the window scrolls by itself</caption>
          <thead>
            <tr>
              <th class="wide">Words</th>
              <th class="number">Number</th>
              <th>Interval</th>
              <th>Do</th>
            </tr>
          </thead>
          <tbody>
            {NAMES.map((name) => (
              <tr>
                <td class="wide">
                  <bdi>{name}</bdi>
                </td>
                <td class="number">42.00</td>
                <td>
                  <Bar value={0.42} low={0.3} high={0.6} label="30 to 60" />
                </td>
                <td>
                  <RowAction action="/design" id="1" label="Do it" of={name} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function Charts() {
  return (
    <>
      <h2>Charts</h2>
      <div class="pair">
        <LineChart title="A score and its interval" points={POINTS} />
        <LineChart title="A single day" points={POINTS.slice(0, 1)} />
        <RadarChart
          title="Directions"
          axes={["Correctness", "Latency", "Cost efficiency", "Tool efficiency", "Robustness"].map((name, index) => ({
            name,
            value: index === 3 ? null : 0.9 - index / 8,
          }))}
        />
        <ScatterChart
          title="Pass rate over cost"
          choices={[
            { name: NAMES[0], share: 0.9, cost: 0.02, best: true },
            { name: NAMES[1], share: 0.5, cost: 0.004, best: true },
            { name: "Third", share: 0.4, cost: 0.015, best: false },
            { name: "Without a price", share: 0.7, cost: null, best: false },
            { name: "Of some", share: 1, cost: 0.0042, known: "120 of 400 runs", best: false, simulated: true },
          ]}
        />
      </div>
      <Differences
        title="Differences"
        differences={[
          { a: NAMES[0], b: NAMES[1], tasks: 40, value: 0.25, low: 0.1, high: 0.4, p: 0.004 },
          { a: NAMES[1], b: "Third", tasks: 40, value: -0.05, low: -0.2, high: 0.1, p: 0.8 },
          { a: NAMES[0], b: "Third", tasks: 0, value: null, low: -1, high: 1, p: 1 },
        ]}
      />
      <Matrix
        title="A matrix"
        columns={[...NAMES, "Third"]}
        rows={[
          { name: "A task", href: "/design", cells: [{ passed: 3, tries: 3 }, { passed: 1, tries: 3 }, null] },
          { name: "Another", cells: [{ passed: 0, tries: 3 }, null, { passed: 2, tries: 2 }] },
        ]}
      />
    </>
  );
}

/** Every part that pages are made of, in all of its states. */
function show({ ctx, c }: Visit): Response {
  if (ctx.env.ENVIRONMENT === "production") throw notFound("page");
  return personal(
    c,
    <Layout title="Design">
      <h1>Design</h1>
      <p class="mute">
        What pages are made of. Light or dark follows the reader's system. It is shown in development only.
      </p>
      <Words />
      <States />
      <Fields />
      <Table />
      <Charts />
    </Layout>,
  );
}

export const designPages: readonly View[] = [view({ path: "/design", title: "The parts of pages", show })];
