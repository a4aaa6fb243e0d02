/**
 * What comes from the timeline's page, checked against `src/model/protocol.ts`: an unknown or misshapen message is
 * null and is dropped. And where a click leads: to the config token that is responsible for what was clicked.
 */

import type { PlanAnalysis } from '../model/analysis.ts';
import type { FromWebview, GapCause } from '../model/protocol.ts';
import type { TextRange } from '../model/source.ts';

type Fields = Readonly<Record<string, unknown>>;

const CAUSES: readonly GapCause[] = ['warmup', 'cooldown', 'stall'];

export function readFromWebview(data: unknown): FromWebview | null {
  if (typeof data !== 'object' || data === null) return null;
  const fields = data as Fields;
  switch (fields.type) {
    case 'ready':
      return { type: 'ready' };
    case 'choosePlan':
      return typeof fields.planId === 'string' ? { type: 'choosePlan', planId: fields.planId } : null;
    case 'revealAction':
      return readAction(fields);
    case 'revealGap':
      return readGap(fields);
    default:
      return null;
  }
}

/** The document that a restored page was drawn for. */
export function documentOfState(state: unknown): string | null {
  if (typeof state !== 'object' || state === null) return null;
  const { document } = state as Fields;
  return typeof document === 'string' ? document : null;
}

/** The plan that a restored page had chosen. */
export function planOfState(state: unknown): string | null {
  if (typeof state !== 'object' || state === null) return null;
  const { planId } = state as Fields;
  return typeof planId === 'string' ? planId : null;
}

/** The config token behind what was clicked: the stage's own entry where the file lists times stage by stage. */
export function responsibleFor({ plan, responsible }: PlanAnalysis, message: FromWebview): TextRange | null {
  switch (message.type) {
    case 'revealAction':
      return plan.stageTimes.value?.[message.stage]?.range ?? responsible.stage;
    case 'revealGap':
      return responsible[message.cause];
    default:
      return null;
  }
}

function readAction({ rank, stage, kind, microbatch }: Fields): FromWebview | null {
  if (!isCount(rank) || !isCount(stage) || typeof kind !== 'string' || !isCount(microbatch)) return null;
  return { type: 'revealAction', rank, stage, kind, microbatch };
}

function readGap({ rank, cause, waitedForRank }: Fields): FromWebview | null {
  const known = CAUSES.find((each) => each === cause);
  if (!isCount(rank) || known === undefined || !Number.isSafeInteger(waitedForRank)) return null;
  return { type: 'revealGap', rank, cause: known, waitedForRank: Number(waitedForRank) };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
