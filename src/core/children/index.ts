export * from './child-driver.ts';
export { PiDriver } from './pi-rpc/pi-driver.ts';
export { probeModels } from './pi-rpc/probe-models.ts';
export { probeTools } from './pi-rpc/probe-tools.ts';
