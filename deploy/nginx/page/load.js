import { add, p99, readMetrics } from '/page/read-metrics.js';

const INTERVAL_MS = 2_000;
const WINDOW_MS = 60_000;
const section = document.querySelector('#load');

/** The figures: title, value of the requests of `ms`, unit. */
const PLOTS = [
  ['Requests per second', ({ requests, ms }) => (1_000 * requests) / ms, ''],
  ['Responses with 5xx', ({ requests, errors }) => (100 * errors) / requests, ' %'],
  ['99th percentile of duration', p99, ' ms'],
];

/** Resolves with `undefined` if the replica is down. */
async function readReplica(name) {
  try {
    const signal = AbortSignal.timeout(INTERVAL_MS);
    const response = await fetch(`/page/metrics/${name}`, { cache: 'no-store', signal });
    return response.ok ? readMetrics(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}

/** Adds the requests since the last call as a point. */
async function measure(service) {
  const { points, at: before, readings: last } = service;
  const readings = await Promise.all(service.names.map(readReplica));
  const at = performance.now();
  // A restarted replica counts from zero.
  const changes = readings.flatMap((now, index) => {
    if (!now || !last[index]) return [];
    return now.requests < last[index].requests ? [now] : [add(now, last[index], -1)];
  });
  const ms = at - before;
  // While the page is hidden, it measures nothing: the next change is that of the whole pause.
  if (changes.length > 0 && ms < WINDOW_MS) {
    points.push({ at, ms, ...changes.reduce((one, other) => add(one, other)) });
  }
  Object.assign(service, { at, readings });
  while (points[0]?.at < at - WINDOW_MS) points.shift();
}

/** The end of the axis: 1, 2 or 5 times a power of ten. */
function topOf(values) {
  const highest = Math.max(1, ...values);
  const power = 10 ** Math.floor(Math.log10(highest));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= highest);
}

function print(value) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** A line through the points, with gaps. */
function pathOf(points, top) {
  let last = -WINDOW_MS;
  const steps = points.map(({ at, value }) => {
    const command = at - last > 2 * INTERVAL_MS ? 'M' : 'L';
    last = at;
    const x = 100 - (100 * (performance.now() - at)) / WINDOW_MS;
    return `${command}${x.toFixed(2)} ${(100 - (100 * value) / top).toFixed(2)}`;
  });
  // A point without neighbours is a dot.
  return steps.map((step) => `${step}h.1`).join('');
}

function draw(figure, [, read, unit], services) {
  const lines = services.map(({ points }) =>
    points
      .map((point) => ({ at: point.at, value: read(point) }))
      .filter(({ value }) => !Number.isNaN(value)),
  );
  const top = topOf(lines.flat().map(({ value }) => value));
  figure.querySelector('small').textContent = print(top) + unit;
  services.forEach(({ at, readings }, index) => {
    const isDown = readings.every((reading) => !reading);
    const last = lines[index].at(-1);
    const value = last?.at === at ? print(last.value) + unit : '–';
    figure.querySelectorAll('path')[index].setAttribute('d', pathOf(lines[index], top));
    figure.querySelectorAll('dd')[index].textContent = isDown ? 'down' : value;
  });
}

function addFigure([title], services) {
  const figure = document.createElement('figure');
  figure.innerHTML = `<figcaption>${title}</figcaption><small></small>
    <svg viewBox="0 -9 100 114" preserveAspectRatio="none" aria-hidden="true">
    ${services.map(() => '<path/>').join('')}</svg>
    <dl>${services.map(({ name }) => `<dt>${name}<dd>`).join('')}</dl>`;
  section.append(figure);
  return figure;
}

/** Without requests in the last minute: the number of those before. */
function showIdle(services) {
  const idle = section.querySelector('#idle');
  idle.hidden = services.some(({ points }) => points.some(({ requests }) => requests > 0));
  const counts = services.map(({ name, readings }) => {
    return [name, readings.reduce((sum, reading) => sum + (reading?.requests ?? 0), 0)];
  });
  const isUsed = counts.some(([, count]) => count > 0);
  const text = counts.map(([name, count]) => `${name} ${count.toLocaleString('en')}`).join(', ');
  idle.textContent = isUsed
    ? `Requests so far: ${text}. New ones appear here.`
    : 'No requests yet: try the commands below.';
}

async function keepDrawing(services) {
  const figures = PLOTS.map((plot) => addFigure(plot, services));
  section.hidden = false;
  for (;;) {
    if (!document.hidden) {
      await Promise.all(services.map(measure));
      for (const [index, plot] of PLOTS.entries()) draw(figures[index], plot, services);
      showIdle(services);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

const { replicas, links } = await (await fetch('/page/system.json')).json();
for (const [textContent, href] of Object.entries(links)) {
  section
    .querySelector('nav')
    .append(Object.assign(document.createElement('a'), { textContent, href }));
}
const services = Object.entries(replicas).map(([name, names]) => {
  return { name, names, points: [], at: 0, readings: [] };
});
if (services.length > 0) keepDrawing(services);
