/** The rules on the inventory of `runs.lanes`, all of which are checked before anything is launched. */
import { canonicalJson } from './canonical-json.ts';
import {
  isKnown,
  isObject,
  keyFault,
  MAX_LANE_PATH_BYTES,
  MAX_LANE_TASK_BYTES,
  MAX_LANES,
  MAX_LANES_BYTES,
  MAX_STAGES,
  MAX_STAGES_PER_LANE,
  type RuleFault,
  short,
  UNKNOWN,
  WORKFLOW_KEY,
} from './workflow.ts';
import { launchFaults } from './workflow-launch.ts';

const utf8 = new TextEncoder();

/** The key of a stage's child. */
export function stageKey(lane: string, stage: string): string {
  return `${lane}.${stage}`;
}

/**
 * What is wrong with an inventory, lane by lane. `UNKNOWN` may stand anywhere; `isOpen` tells of an object (by its
 * path) whether it may have fields nobody can know yet.
 */
export function lanesFaults(lanes: unknown, isOpen: (path: RuleFault['path']) => boolean = () => false): RuleFault[] {
  if (lanes === UNKNOWN) return [];
  const faults: RuleFault[] = [];
  if (!Array.isArray(lanes)) return [bounds([], `runs.lanes takes an array of lanes; this is ${short(lanes)}.`)];
  if (lanes.length === 0) return [bounds([], 'runs.lanes needs at least one lane.')];
  if (lanes.length > MAX_LANES) {
    faults.push(bounds([], `runs.lanes has ${lanes.length} lanes; at most ${MAX_LANES} are possible.`));
  }
  const generated = new Map<string, RuleFault['path']>();
  let stages = 0;
  lanes.forEach((lane: unknown, index) => {
    if (lane === UNKNOWN) return;
    faults.push(...laneFaults(lane, index, isOpen, generated));
    if (isObject(lane) && Array.isArray(lane['stages'])) stages += lane['stages'].length;
  });
  if (stages > MAX_STAGES) {
    faults.push(bounds([], `The lanes have ${stages} stages together; at most ${MAX_STAGES} are possible.`));
  }
  if (isKnown(lanes)) {
    const size = utf8.encode(canonicalJson(lanes)).length;
    if (size > MAX_LANES_BYTES) {
      faults.push(
        bounds(
          [],
          `The lanes have ${size} bytes as JSON; at most ${MAX_LANES_BYTES} are possible. Let children read long texts from files.`,
        ),
      );
    }
  }
  return faults;
}

function bounds(path: RuleFault['path'], message: string): RuleFault {
  return { rule: 'lanes_bounds', path, message };
}

function laneFaults(
  lane: unknown,
  index: number,
  isOpen: (path: RuleFault['path']) => boolean,
  generated: Map<string, RuleFault['path']>,
): RuleFault[] {
  const what = `lane ${index + 1}`;
  if (!isObject(lane)) {
    return [
      {
        rule: 'lanes_field_invalid',
        path: [index],
        message: `The ${what} is ${short(lane)}; it must be {key, stages}.`,
      },
    ];
  }
  const faults: RuleFault[] = [];
  for (const name of Object.keys(lane)) {
    if (name !== 'key' && name !== 'stages') {
      const message = `The ${what} has "${name}"; a lane has only "key" and "stages".`;
      faults.push({ rule: 'lanes_field_invalid', path: [index, name], message });
    }
  }
  const open = isOpen([index]);
  const { key, stages } = lane;
  if (key !== undefined || !open)
    faults.push(...keyFault(key, `key of ${what}`, key === undefined ? [index] : [index, 'key']));
  if (stages === UNKNOWN || (stages === undefined && open)) return faults;
  if (!Array.isArray(stages) || stages.length === 0) {
    const path = stages === undefined ? [index] : [index, 'stages'];
    return [
      ...faults,
      { rule: 'lanes_field_invalid', path, message: `The ${what} needs "stages", an array with at least one stage.` },
    ];
  }
  if (stages.length > MAX_STAGES_PER_LANE) {
    const message = `The ${what} has ${stages.length} stages; at most ${MAX_STAGES_PER_LANE} are possible.`;
    faults.push(bounds([index, 'stages'], message));
  }
  const own = new Set<string>();
  stages.forEach((stage: unknown, at) => {
    if (stage === UNKNOWN) return;
    const path = [index, 'stages', at];
    if (!isObject(stage)) {
      const message = `Stage ${at + 1} of ${what} is ${short(stage)}; it must be an object with "key" and what to launch.`;
      faults.push({ rule: 'lanes_stage_invalid', path, message });
      return;
    }
    faults.push(
      ...stageFaults(stage, path, { what: `stage ${at + 1} of ${what}`, first: at === 0, open: isOpen(path) }),
    );
    faults.push(...stageKeyFaults(key, stage['key'], path, own, generated));
  });
  return faults;
}

function stageFaults(
  stage: Record<string, unknown>,
  path: RuleFault['path'],
  { what, first, open }: { what: string; first: boolean; open: boolean },
): RuleFault[] {
  const { key, ...params } = stage;
  const faults = key === undefined && open ? [] : keyFault(key, `key of ${what}`, key === undefined ? [] : ['key']);
  faults.push(...launchFaults(params, { what, open, stage: first ? 'first' : 'later' }));
  const limits = {
    task: MAX_LANE_TASK_BYTES,
    cwd: MAX_LANE_PATH_BYTES,
    output: MAX_LANE_PATH_BYTES,
    sessionDir: MAX_LANE_PATH_BYTES,
  };
  for (const [name, max] of Object.entries(limits)) {
    const value = params[name];
    if (typeof value === 'string' && utf8.encode(value).length > max) {
      faults.push({
        rule: 'lanes_stage_invalid',
        path: [name],
        message: `"${name}" of ${what} has more than ${max} bytes.`,
      });
    }
  }
  return faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
}

function stageKeyFaults(
  lane: unknown,
  stage: unknown,
  path: RuleFault['path'],
  own: Set<string>,
  generated: Map<string, RuleFault['path']>,
): RuleFault[] {
  if (typeof stage !== 'string' || !WORKFLOW_KEY.test(stage)) return [];
  const at = [...path, 'key'];
  if (own.has(stage)) {
    return [
      { rule: 'lanes_key_repeated', path: at, message: `The stage key ${short(stage)} stands twice in this lane.` },
    ];
  }
  own.add(stage);
  if (typeof lane !== 'string' || !WORKFLOW_KEY.test(lane)) return [];
  const child = stageKey(lane, stage);
  if (generated.has(child)) {
    const message = `Two stages would get the key ${short(child)}. Name one of the lanes or stages differently.`;
    return [{ rule: 'lanes_key_repeated', path: at, message }];
  }
  generated.set(child, at);
  return keyFault(child, 'key made of lane and stage', at);
}
