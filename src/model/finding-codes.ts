/**
 * The stable codes of findings: one row each, with the severity it usually has and what it means. The documentation
 * page of a code is `media/docs/<code>.md`; a test holds the pages against this table.
 */

export type Severity = 'error' | 'warning' | 'information';

interface CodeRow {
  readonly severity: Severity;
  readonly title: string;
}

export const FINDING_CODES = {
  'syntax-error': { severity: 'error', title: 'The file cannot be parsed here' },
  'invalid-value': { severity: 'error', title: 'A value that no framework accepts' },
  'duplicate-key': { severity: 'warning', title: 'A key is given twice' },
  'unknown-key': { severity: 'warning', title: 'A key that nothing reads' },
  'missing-value': { severity: 'error', title: 'A value that the framework requires is missing' },
  'option-removed': { severity: 'error', title: 'The framework no longer takes this option' },
  'options-conflict': { severity: 'error', title: 'Options that exclude each other' },
  'unknown-schedule': { severity: 'error', title: 'A schedule that the framework does not have' },
  'layers-not-divisible': { severity: 'error', title: 'Layers do not divide over the stages' },
  'split-invalid': { severity: 'error', title: 'The split of layers over stages is not legal' },
  'layout-invalid': { severity: 'error', title: 'The layout string is not legal' },
  'world-size-not-divisible': { severity: 'error', title: 'The GPU count does not fit the parallel sizes' },
  'expert-size-not-divisible': { severity: 'error', title: 'The GPU count does not fit the expert parallel sizes' },
  'batch-not-divisible': { severity: 'error', title: 'The global batch does not divide' },
  'heads-not-divisible': { severity: 'error', title: 'Attention heads do not divide over the tensor parallel size' },
  'experts-not-divisible': { severity: 'error', title: 'Experts do not divide over the expert parallel size' },
  'sequence-not-divisible': { severity: 'error', title: 'The sequence does not divide over the context parallel size' },
  'microbatches-below-minimum': { severity: 'error', title: 'Fewer microbatches than the schedule accepts' },
  'group-size-out-of-range': { severity: 'error', title: 'The microbatch group size is not legal' },
  'schedule-not-legal': { severity: 'error', title: 'The framework refuses this schedule here' },
  'too-much-to-follow': { severity: 'warning', title: 'The script does too much to be followed' },
  'companion-missing': { severity: 'information', title: 'A file that this config refers to was not found' },
  'too-large-to-simulate': { severity: 'information', title: 'The plan is too large to simulate while typing' },
  'analysis-failed': { severity: 'information', title: 'The analysis of this file failed' },
  'too-few-microbatches': { severity: 'warning', title: 'Too few microbatches to fill the pipeline' },
  'heavy-stage': { severity: 'warning', title: 'One stage is heavier than the others' },
  'transfers-exposed': { severity: 'warning', title: 'Transfers between stages are exposed' },
  'measured-step-short': { severity: 'warning', title: 'A measured step is shorter than the pipeline' },
  'bubble-large': { severity: 'warning', title: 'The idle share is above the threshold' },
} as const satisfies Readonly<Record<string, CodeRow>>;

export type FindingCode = keyof typeof FINDING_CODES;
