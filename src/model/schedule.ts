/**
 * The names of schedules, placements, actions, frameworks and communication modes: the field's own words,
 * closed as unions so that a switch over them is checked.
 */

export const SCHEDULE_IDS = [
  'none',
  'gpipe',
  '1f1b',
  'interleaved-1f1b',
  'grouped-interleaved',
  '1f1b-v',
  'looped-bfs',
  'zb-h1',
  'zb-h2',
  'zb-1p',
  'zb-2p',
  'interleaved-zb',
  'zbv',
  'v-half',
  'v-min',
  'dualpipe',
  'dualpipev',
  'circular',
] as const;

export type ScheduleId = (typeof SCHEDULE_IDS)[number];

/** Which rank holds which stage: `loop` (stage s on rank s mod pp), `v` (down and back up), `bidirectional`. */
export type Placement = 'loop' | 'v' | 'bidirectional';

export const FRAMEWORK_IDS = [
  'megatron-lm',
  'torch',
  'torchtitan',
  'deepspeed',
  'nanotron',
  'dualpipe',
  'zero-bubble',
  'mindspeed-llm',
  'megatron-deepspeed',
  'gpt-neox',
  'maxtext',
  'mindformers',
  'paddlenlp',
  'olmo-core',
  'colossal-ai',
] as const;

export type FrameworkId = (typeof FRAMEWORK_IDS)[number];

/**
 * How transfers behave. `async`: a send never keeps its sender. `blocking`: Megatron-LM's calls, in which both ends
 * meet. `overlap`, `overlap-flush`: Megatron-LM with overlapped transfers, the latter in warm-up and cool-down too.
 * `sequential`: DeepSpeed, one action or transfer at a time. `one-stream`: torch, one queue of transfers per rank.
 */
export const COMMUNICATION_MODES = [
  'async',
  'blocking',
  'overlap',
  'overlap-flush',
  'sequential',
  'one-stream',
] as const;

export type CommunicationMode = (typeof COMMUNICATION_MODES)[number];
