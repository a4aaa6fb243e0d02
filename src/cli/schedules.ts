/** `bubblelens schedules`: what can be simulated, from the table. */

import { FRAMEWORKS } from '../frameworks/table.ts';
import { SCHEDULES } from '../sim/schedules/table.ts';

export function schedulesJson() {
  return SCHEDULES.map(({ id, title, source, placement, virtualStages, splitsBackward, aliases }) => ({
    id,
    title,
    source,
    placement,
    virtualStages,
    splitsBackward,
    aliases,
    frameworks: FRAMEWORKS.filter((framework) => framework.schedules.includes(id)).map((framework) => framework.id),
  }));
}

export function schedulesText(): string {
  const rows = schedulesJson();
  const width = Math.max(...rows.map((row) => row.id.length));
  return rows
    .map((row) => {
      const stages = { one: '1 stage per rank', two: '2 stages per rank', any: 'any stages per rank' }[
        row.virtualStages
      ];
      const where = row.frameworks.length === 0 ? '' : `; ${row.frameworks.join(', ')}`;
      return `${row.id.padEnd(width)}  ${row.title}: ${row.placement}, ${stages}${where}\n${' '.repeat(width + 2)}${row.source}`;
    })
    .join('\n');
}
