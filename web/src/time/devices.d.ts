declare module "kcharter:devices" {
  const devices: import("./device.ts").Device[];
  export default devices;
}
